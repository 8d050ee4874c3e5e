"""What the sections of machine files and DBMS profiles have in common."""

from pydantic import Field

from memwalk.simcore.validation import StrictModel


class Section(StrictModel):
    """A part of a file: ``source`` says where its numbers come from, ``sources`` where single ones do."""

    source: str | None = Field(None, exclude=True, description="Where the numbers of this section come from")
    sources: dict[str, str] = Field({}, exclude=True, description="Where single numbers come from, by key")
