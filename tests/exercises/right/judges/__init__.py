"""As in the package above, for the exercises of this package of the catalogue."""
