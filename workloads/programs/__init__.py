"""Programs on storage: clients that say, command by command, what they do (`memwalk.traces.storage`). Nothing here takes time."""
