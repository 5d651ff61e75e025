# The header that FlatBuffers' compiler made of a schema, without its object API: structs of their
# own for all tables (`struct TensorT`), and functions that convert (UnPack, Pack).
/^struct .*: public ::flatbuffers::NativeTable/ { dropped = 1 }
/^struct .*Union \{/ || /^inline .*Union::/ { dropped = 1 }
/^inline .*(Pack|PackTo)\(/ || /^inline .*, const [A-Za-z0-9]+T ?\*_o,/ { dropped = 1 }
/^inline ([A-Za-z0-9]+T &)?[A-Za-z0-9]+T::/ || /^inline std::unique_ptr/ { dropped = 1 }
!dropped
/^[^ ].*;$/ || /^}/ { dropped = 0 }
