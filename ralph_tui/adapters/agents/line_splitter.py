"""Bytes from a pipe, cut into lines; one beyond the limit comes in pieces: memory is bounded."""


class LineSplitter:
    """Feed chunks, take whole lines (without their newline)."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes."""
        if b"\n" not in chunk and len(self._rest) + len(chunk) < self._limit:
            # The hot path of a huge line: no scan of what has been scanned.
            self._rest += chunk
            return []
        head, *others = chunk.split(b"\n")
        lines = []
        self._rest += head
        if others and len(chunk) <= self._limit:  # none but the first can be too long
            lines = [*self._pieces(), bytes(self._rest), *others[:-1]]
            self._rest = bytearray(others[-1])
            others = []
        for part in others:
            lines += self._pieces()
            lines.append(bytes(self._rest))
            self._rest = bytearray(part)
        return lines + self._pieces()

    def close(self) -> list[bytes]:
        """What is left without a newline at the end of the stream."""
        rest, self._rest = bytes(self._rest), bytearray()
        return [rest] if rest else []

    def _pieces(self) -> list[bytes]:
        pieces = []
        while len(self._rest) > self._limit:
            pieces.append(bytes(self._rest[: self._limit]))
            del self._rest[: self._limit]
        return pieces
