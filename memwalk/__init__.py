"""Where in the memory hierarchy does a data structure lose its time, and what would change that.

This is the one import name of the project. Its parts lie in folders of their own at the top of a checkout, to which there are
links here; an installed memwalk has the folders themselves here.
"""
