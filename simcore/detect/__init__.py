"""What machine this is: what the system and the processor say, and what measuring adds."""
