"""What `memwalk` calls first: it minds signals before it imports the rest, which takes some tenths of a second."""

import importlib
import sys

from memwalk.analysis.cli.termination import exit_code, interruptible


def main() -> None:
    """Run the command line and exit with its code, minding signals from here on."""
    with interruptible():
        try:
            command_line = importlib.import_module("memwalk.analysis.cli.main")
        except KeyboardInterrupt as ended:
            sys.stderr.write("memwalk: stopped\n")
            sys.exit(exit_code(ended))
        command_line.run()


if __name__ == "__main__":
    main()
