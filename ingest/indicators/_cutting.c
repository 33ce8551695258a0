/* Cuts a text at white space, or at one character, without making a string of each token; `cutting.py` uses it.

   The text is hostile: nothing is read beyond the stretch that was asked for, and the hash is the interpreter's own,
   which is seeded, so that no text can choose where its tokens fall. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <string.h>

#define WHITE_SPACE UINT32_MAX

typedef Py_hash_t Hashed(const void *, Py_ssize_t);

/* One appearance of a token: where it begins in the stretch, and which of the different ones it is. */
typedef struct {
    uint32_t start;
    uint32_t token;
} Appearance;

/* One of the different tokens, by its first appearance. */
typedef struct {
    Py_hash_t hash;
    uint32_t start;
    uint32_t length;
} Token;

typedef struct {
    const char *text; /* of `length` characters that are `width` bytes each */
    size_t length, width;
    Py_UCS4 separator; /* or WHITE_SPACE */
    Token *tokens;
    size_t count, room;
    uint32_t *slots; /* 1 + index of a token, or 0; their number is a power of two, at most half of them are taken */
    size_t mask;
    PyObject *appearances; /* bytes, of which the first `seen` appearances are written */
    size_t seen, seen_room;
} Cut;

/* All of these set an error and return 0 where memory is out. */

static int
widen_slots(Cut *cut)
{
    size_t size = cut->mask ? (cut->mask + 1) * 2 : 4096;
    uint32_t *slots = PyMem_Calloc(size, sizeof(uint32_t));
    if (slots == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (size_t index = 0; index < cut->count; index++) {
        size_t slot = (size_t)cut->tokens[index].hash & (size - 1);
        while (slots[slot]) {
            slot = (slot + 1) & (size - 1);
        }
        slots[slot] = (uint32_t)index + 1;
    }
    PyMem_Free(cut->slots);
    cut->slots = slots;
    cut->mask = size - 1;
    return 1;
}

static int
add_token(Cut *cut, size_t slot, Token token)
{
    if (cut->count == cut->room) {
        size_t room = cut->room ? cut->room * 2 : 1024;
        Token *tokens = PyMem_Realloc(cut->tokens, room * sizeof(Token));
        if (tokens == NULL) {
            PyErr_NoMemory();
            return 0;
        }
        cut->tokens = tokens;
        cut->room = room;
    }
    cut->tokens[cut->count++] = token;
    cut->slots[slot] = (uint32_t)cut->count;
    return cut->count * 2 <= cut->mask || widen_slots(cut);
}

static int
add_appearance(Cut *cut, Appearance appearance)
{
    if (cut->seen == cut->seen_room) {
        size_t room = cut->seen_room * 2;
        if (_PyBytes_Resize(&cut->appearances, (Py_ssize_t)(room * sizeof(Appearance))) < 0) {
            return 0;
        }
        cut->seen_room = room;
    }
    memcpy(PyBytes_AS_STRING(cut->appearances) + cut->seen++ * sizeof(Appearance), &appearance, sizeof(Appearance));
    return 1;
}

/* Notes that text[start:end] is a token. */
static int
note(Cut *cut, size_t start, size_t end, Hashed *hashed)
{
    size_t length = end - start, bytes = length * cut->width;
    const char *spelled = cut->text + start * cut->width;
    Py_hash_t hash = hashed(spelled, (Py_ssize_t)bytes);
    size_t slot = (size_t)hash & cut->mask;
    uint32_t taken;
    while ((taken = cut->slots[slot]) != 0) {
        const Token *token = &cut->tokens[taken - 1];
        if (token->hash == hash && token->length == length &&
            memcmp(cut->text + token->start * cut->width, spelled, bytes) == 0) {
            return add_appearance(cut, (Appearance){(uint32_t)start, taken - 1});
        }
        slot = (slot + 1) & cut->mask;
    }
    Appearance first = {(uint32_t)start, (uint32_t)cut->count};
    return add_token(cut, slot, (Token){hash, (uint32_t)start, (uint32_t)length}) && add_appearance(cut, first);
}

static inline int
parts(const Cut *cut, Py_UCS4 character)
{
    if (cut->separator != WHITE_SPACE) {
        return character == cut->separator;
    }
    /* Most are letters and signs of ASCII. */
    return character - 0x21 < 0x5e ? 0 : Py_UNICODE_ISSPACE(character);
}

/* Where the first character at or after a position stands that parts tokens, or the first that does not. */
static inline size_t
next(const Cut *cut, int kind, size_t position, int parting)
{
    while (position < cut->length && parts(cut, PyUnicode_READ(kind, cut->text, position)) != parting) {
        position++;
    }
    return position;
}

static inline int
cut_up_characters(Cut *cut, int kind)
{
    Hashed *hashed = PyHash_GetFuncDef()->hash;
    size_t start = next(cut, kind, 0, 0);
    while (start < cut->length) {
        size_t end = next(cut, kind, start, 1);
        if (!note(cut, start, end, hashed)) {
            return 0;
        }
        start = next(cut, kind, end, 0);
    }
    return _PyBytes_Resize(&cut->appearances, (Py_ssize_t)(cut->seen * sizeof(Appearance))) == 0;
}

/* A loop for each width, so that none asks for it at every character. */
static int
cut_up(Cut *cut)
{
    switch (cut->width) {
    case 1:
        return cut_up_characters(cut, PyUnicode_1BYTE_KIND);
    case 2:
        return cut_up_characters(cut, PyUnicode_2BYTE_KIND);
    default:
        return cut_up_characters(cut, PyUnicode_4BYTE_KIND);
    }
}

/* The different tokens as a list of strings. */
static PyObject *
strings_of(const Cut *cut)
{
    PyObject *strings = PyList_New((Py_ssize_t)cut->count);
    for (size_t index = 0; strings != NULL && index < cut->count; index++) {
        const char *spelled = cut->text + cut->tokens[index].start * cut->width;
        PyObject *string = PyUnicode_FromKindAndData((int)cut->width, spelled, cut->tokens[index].length);
        if (string == NULL) {
            Py_CLEAR(strings);
        }
        else {
            PyList_SET_ITEM(strings, (Py_ssize_t)index, string);
        }
    }
    return strings;
}

static PyObject *
cut_function(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *text, *separator;
    Py_ssize_t start, end;
    if (!PyArg_ParseTuple(arguments, "UnnO", &text, &start, &end, &separator)) {
        return NULL;
    }
    if (separator != Py_None && (!PyUnicode_Check(separator) || PyUnicode_GET_LENGTH(separator) != 1)) {
        return PyErr_Format(PyExc_ValueError, "a separator is one character or None");
    }
    if (start < 0 || start > end || end > PyUnicode_GET_LENGTH(text) || (size_t)(end - start) >= UINT32_MAX / 2) {
        return PyErr_Format(PyExc_ValueError, "the text has no stretch from %zd to %zd", start, end);
    }
    Cut cut = {.length = (size_t)(end - start), .width = (size_t)PyUnicode_KIND(text), .seen_room = 1024};
    cut.separator = separator == Py_None ? WHITE_SPACE : PyUnicode_READ_CHAR(separator, 0);
    cut.text = (const char *)PyUnicode_DATA(text) + (size_t)start * cut.width;
    cut.appearances = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(cut.seen_room * sizeof(Appearance)));
    PyObject *both = NULL;
    if (cut.appearances != NULL && widen_slots(&cut) && cut_up(&cut)) {
        both = Py_BuildValue("NO", strings_of(&cut), cut.appearances);
    }
    Py_XDECREF(cut.appearances);
    PyMem_Free(cut.tokens);
    PyMem_Free(cut.slots);
    return both;
}

/* For each of the tokens whether it is in the set, as a byte; NULL with an error set where that cannot be told. */
static char *
flags_of(PyObject *tokens, PyObject *wanted)
{
    Py_ssize_t count = PyList_GET_SIZE(tokens);
    char *flags = PyMem_Calloc((size_t)count + 1, 1);
    if (flags == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        int held = PySet_Contains(wanted, PyList_GET_ITEM(tokens, index));
        if (held < 0) {
            PyMem_Free(flags);
            return NULL;
        }
        flags[index] = (char)held;
    }
    return flags;
}

static PyObject *
places_function(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *tokens, *appearances, *wanted;
    Py_ssize_t begin;
    if (!PyArg_ParseTuple(
            arguments, "O!O!O!n", &PyList_Type, &tokens, &PyBytes_Type, &appearances, &PySet_Type, &wanted, &begin)) {
        return NULL;
    }
    char *flags = flags_of(tokens, wanted);
    if (flags == NULL) {
        return NULL;
    }
    PyObject *places = PyList_New(0);
    size_t count = (size_t)PyList_GET_SIZE(tokens);
    size_t seen = (size_t)PyBytes_GET_SIZE(appearances) / sizeof(Appearance);
    for (size_t index = 0; places != NULL && index < seen; index++) {
        Appearance each;
        memcpy(&each, PyBytes_AS_STRING(appearances) + index * sizeof(Appearance), sizeof(Appearance));
        if (each.token >= count || !flags[each.token]) {
            continue;
        }
        PyObject *token = PyList_GET_ITEM(tokens, (Py_ssize_t)each.token);
        PyObject *place = Py_BuildValue("nO", begin + (Py_ssize_t)each.start, token);
        if (place == NULL || PyList_Append(places, place) < 0) {
            Py_CLEAR(places);
        }
        Py_XDECREF(place);
    }
    PyMem_Free(flags);
    return places;
}

static PyMethodDef functions[] = {
    {"cut", cut_function, METH_VARARGS, "The different tokens of text[start:end], and where each of all appears."},
    {"places", places_function, METH_VARARGS, "Where those of the tokens stand that are wanted."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_cutting", .m_methods = functions};

PyMODINIT_FUNC
PyInit__cutting(void)
{
    return PyModuleDef_Init(&definition);
}
