"""Texts as models have them: tensors hold numbers, those of texts the places in a list that the om has."""

import numpy


class TextList:
    """The list of a model."""

    def __init__(self, texts):
        self.texts = texts
        self.places = {text: place for place, text in enumerate(texts)}


class TextBook:
    """For one run: a text that the model does not know gets a number behind those that it does."""

    def __init__(self, known):
        self._known = known
        self._others = {}

    def others(self):
        """Texts that the model does not know, in the order of their numbers."""
        return list(self._others)

    def add(self, computed):
        """Texts that the run has made, which have the next numbers."""
        for text in computed:
            self._number(text)

    def numbers(self, texts):
        """Of an array of str."""
        flat = [self._number(text) for text in texts.reshape(-1).tolist()]
        return numpy.array(flat, numpy.int64).reshape(texts.shape)

    def texts(self, numbers):
        """An array of str."""
        known, others = self._known.texts, self.others()
        texts = [
            known[each] if each < len(known) else others[each - len(known)]
            for each in numbers.reshape(-1).tolist()
        ]
        return _array_of(texts, numbers.shape)

    def _number(self, text):
        place = self._known.places.get(text)
        if place is not None:
            return place
        return self._others.setdefault(text, len(self._known.places) + len(self._others))


def array_of_texts(given):
    """`given`, an array, as one of str; TypeError where it holds something else."""
    kind = given.dtype.kind
    if kind not in "OUST":
        raise TypeError(f"{given.dtype} is no type of texts")
    return _array_of([_text(each) for each in given.reshape(-1).tolist()], given.shape)


def _array_of(texts, shape):
    array = numpy.empty(len(texts), dtype=object)
    array[:] = texts
    return array.reshape(shape)


def _text(element):
    if isinstance(element, bytes):
        return element.decode("utf-8")
    return element if isinstance(element, str) else str(element)
