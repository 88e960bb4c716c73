"""How catalogs store objects: the storage protocol, catalogs over it, and the store of catalogs."""
