"""The one exception for mistakes that the user can mend."""


class UserError(Exception):
    """A mistake of the user's, told in one line per mistake: the file and place, the bad value, what would be right.

    The command line prints it without a traceback and exits with code 2.
    """
