"""arenaut.typed at one remove: a module that is read when an annotation is looked at, since `typing` takes as long to
import as half of this package."""

TYPE_CHECKING = False  # as typing has it
if TYPE_CHECKING:
    from arenaut import typed as typed
else:
    class Deferred:
        """A module whose names are looked up, and which is read, as they are asked for."""

        def __getattr__(self, name):
            from arenaut import typed
            return getattr(typed, name)

    typed = Deferred()
