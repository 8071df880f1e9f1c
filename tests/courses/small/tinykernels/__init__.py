"""The package of the small course; its module needs none of an earlier one."""
