"""Parameters that one layout alone has: others keep their default."""

from pydantic import AfterValidator, ValidationInfo


def only_for(layout: str, default: object, others: str) -> AfterValidator:
    """Refuse a value that is not the default where the layout, which stands before it in a model, is another; ``others`` says why."""

    def check(value: object, info: ValidationInfo) -> object:
        found = info.data.get("layout", layout)
        if value != default and found != layout:
            raise ValueError(f"{info.field_name} is for layout {layout}, and layout is {found}, {others}; remove it")
        return value

    return AfterValidator(check)
