"""What figures are written as. Nothing is drawn here, so that whoever names files need not load what draws."""

IMAGES = ("png", "svg")
