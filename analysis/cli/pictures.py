"""Options that name a file for a picture, such as ``--plot cdf.png``."""

from pathlib import Path

from memwalk.analysis.figures.image_kinds import IMAGES
from memwalk.simcore.errors import UserError
from memwalk.simcore.files import expect_file


def expect_picture(option: str, path: Path) -> None:
    """Raise UserError if a picture could not be written there: before the work that it shows."""
    if path.suffix.removeprefix(".") not in IMAGES:
        raise UserError(f"{option} {path}: cannot draw `{path.suffix}`; end the name in {' or '.join(f'.{kind}' for kind in IMAGES)}")
    expect_file(path)
