// What is in an object of the library, as somebody thinks of it who uses it: elements, entries, a number.
//
// Only fields are read. A method, `toString` included, would run code of the program, which may wait for a thread that is
// stopped. Classes of the program's own that extend one of the library show their fields.

import com.sun.jdi.*;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

final class Contents {
    private static final int IN_A_TEXT = 16;
    private static final int TEXT = 60;
    /** As much of an array as is asked for at once; even, since a table of pairs is read so. Of millions the program would die. */
    private static final int SLICE = 1000;

    /** For a map, each value's key. */
    final List<Value> keys;
    final List<Value> values = new ArrayList<>();
    /** How many there are, of which not all need have been read. */
    int size;
    /** Where the elements of a list are, one after the other from the first; null if they are elsewhere. */
    ArrayReference array;

    private final int limit;

    private Contents(boolean isMap, int limit) {
        this.keys = isMap ? new ArrayList<>() : null;
        this.limit = limit;
    }

    /** The first of what is in there; null if it is no collection, or none that is known. */
    static Contents of(ObjectReference object, int limit) {
        if (!object.referenceType().name().startsWith("java.util.")) return null;
        if (!(object.referenceType() instanceof ClassType)) return null;
        for (ClassType type = (ClassType) object.referenceType(); type != null; type = type.superclass()) {
            Contents contents = read(object, type.name().substring(type.name().lastIndexOf('.') + 1), limit);
            if (contents != null) return contents;
        }
        return null;
    }

    private static Contents read(ObjectReference object, String type, int limit) {
        Contents list = new Contents(false, limit);
        Contents map = new Contents(true, limit);
        switch (type) {
            case "ArrayList": return list.ofArray(object, "elementData", number(object, "size"));
            case "Vector": return list.ofArray(object, "elementData", number(object, "elementCount"));
            case "PriorityQueue": return list.ofArray(object, "queue", number(object, "size"));
            case "Arrays$ArrayList": return list.ofArray(object, "a", -1);
            case "CopyOnWriteArrayList": return list.ofArray(object, "array", -1);
            case "ImmutableCollections$ListN": return list.ofArray(object, "elements", -1);
            case "ImmutableCollections$SetN": return list.ofSparse(object, number(object, "size"));
            case "ImmutableCollections$List12":
            case "ImmutableCollections$Set12": return list.ofOneOrTwo(object);
            case "Collections$SingletonList":
            case "Collections$SingletonSet": return list.and(null, get(object, "element"));
            case "ArrayDeque": return list.ofRing(object);
            case "LinkedList": return list.ofChain(get(object, "first"), "item", "next", number(object, "size"));
            case "HashSet": return keysOf(get(object, "map"), limit);
            case "TreeSet": return keysOf(get(object, "m"), limit);
            case "CopyOnWriteArraySet": return inside(get(object, "al"), limit);
            case "Collections$EmptyList":
            case "Collections$EmptySet": return list;
            case "Collections$UnmodifiableCollection":
            case "Collections$SynchronizedCollection": return inside(get(object, "c"), limit);
            case "Collections$UnmodifiableMap":
            case "Collections$SynchronizedMap": return inside(get(object, "m"), limit);
            case "Collections$EmptyMap": return map;
            case "Collections$SingletonMap": return map.and(get(object, "k"), get(object, "v"));
            case "ImmutableCollections$Map1": return map.and(get(object, "k0"), get(object, "v0"));
            case "ImmutableCollections$MapN": return map.ofPairs(object, number(object, "size"));
            case "LinkedHashMap": return map.ofChain(get(object, "head"), "value", "after", number(object, "size"));
            case "HashMap": return map.ofBuckets(object, "value", number(object, "size"));
            case "Hashtable": return map.ofBuckets(object, "value", number(object, "count"));
            // Since Java 9 what it inherits from a table is empty.
            case "Properties": return inside(get(object, "map"), limit);
            case "ConcurrentHashMap": return map.ofBuckets(object, "val", counted(object));
            case "TreeMap": return map.ofTree(object);
            default: return null;
        }
    }

    private static Contents inside(Value value, int limit) {
        return value instanceof ObjectReference ? of((ObjectReference) value, limit) : null;
    }

    private static Contents keysOf(Value map, int limit) {
        Contents inside = inside(map, limit);
        if (inside == null || inside.keys == null) return null;
        Contents keys = new Contents(false, limit);
        keys.values.addAll(inside.keys);
        keys.size = inside.size;
        return keys;
    }

    private Contents ofArray(ObjectReference object, String field, int length) {
        Value found = get(object, field);
        if (!(found instanceof ArrayReference)) return null;
        array = (ArrayReference) found;
        size = length < 0 ? array.length() : length;
        values.addAll(slice(array, 0, Math.min(size, limit)));
        return this;
    }

    private Contents ofOneOrTwo(ObjectReference object) {
        Value second = get(object, "e1");
        and(null, get(object, "e0"));
        return second == null || second.equals(noSecond(object)) ? this : and(null, second);
    }

    /** What is there instead of a second element; in an older Java, nothing is. */
    private static Value noSecond(ObjectReference object) {
        for (ReferenceType type : object.virtualMachine().classesByName("java.util.ImmutableCollections")) {
            Field empty = type.fieldByName("EMPTY");
            if (empty != null && empty.isStatic()) return type.getValue(empty);
        }
        return null;
    }

    private Contents ofSparse(ObjectReference object, int length) {
        size = length;
        inSlices(get(object, "elements"), slots -> {
            for (Value element : slots) if (element != null) add(null, element);
        });
        return this;
    }

    private Contents ofPairs(ObjectReference object, int length) {
        size = length;
        inSlices(get(object, "table"), slots -> {
            for (int at = 0; at + 1 < slots.size(); at += 2) if (slots.get(at) != null) add(slots.get(at), slots.get(at + 1));
        });
        return this;
    }

    /** From its head to the end of the array, and on from there to its tail. */
    private Contents ofRing(ObjectReference object) {
        Value found = get(object, "elements");
        int room = found instanceof ArrayReference ? ((ArrayReference) found).length() : 0;
        if (room == 0) return this;
        ArrayReference ring = (ArrayReference) found;
        int head = number(object, "head");
        size = Math.floorMod(number(object, "tail") - head, room);
        int wanted = Math.min(size, limit);
        int straight = Math.min(wanted, room - head);
        values.addAll(slice(ring, head, straight));
        values.addAll(slice(ring, 0, wanted - straight));
        return this;
    }

    private Contents ofChain(Value first, String value, String next, int length) {
        size = length;
        chain(first, value, next);
        return this;
    }

    private Contents ofBuckets(ObjectReference object, String value, int length) {
        size = length;
        inSlices(get(object, "table"), slots -> {
            for (Value bucket : slots) {
                if (isFull()) return;
                if (bucket == null || isNoEntry((ObjectReference) bucket)) continue;
                Field tree = field((ObjectReference) bucket, "first");
                chain(tree == null ? bucket : ((ObjectReference) bucket).getValue(tree), value, "next");
            }
        });
        return this;
    }

    /** It keeps the place of an entry that is being computed, or of those that have moved to a larger table. */
    private static boolean isNoEntry(ObjectReference bucket) {
        String type = bucket.referenceType().name();
        return type.endsWith("$ReservationNode") || type.endsWith("$ForwardingNode");
    }

    /** Threads that were in each other's way have counted apart. */
    private static int counted(ObjectReference map) {
        long sum = longNumber(map, "baseCount");
        Value cells = get(map, "counterCells");
        if (cells instanceof ArrayReference) {
            ArrayReference array = (ArrayReference) cells;
            for (Value cell : slice(array, 0, array.length())) if (cell != null) sum += longNumber((ObjectReference) cell, "value");
        }
        return (int) Math.max(0, Math.min(sum, Integer.MAX_VALUE));
    }

    /** From the smallest on, without recursion: the tree may be that of a program that went wrong. */
    private Contents ofTree(ObjectReference object) {
        Deque<ObjectReference> above = new ArrayDeque<>();
        size = number(object, "size");
        Value at = get(object, "root");
        while ((at != null || !above.isEmpty()) && !isFull()) {
            while (at != null) {
                above.push((ObjectReference) at);
                at = get((ObjectReference) at, "left");
            }
            ObjectReference entry = above.pop();
            add(get(entry, "key"), get(entry, "value"));
            at = get(entry, "right");
        }
        return this;
    }

    private void chain(Value first, String value, String next) {
        for (Value at = first; at instanceof ObjectReference && !isFull(); at = get((ObjectReference) at, next)) {
            add(keys == null ? null : get((ObjectReference) at, "key"), get((ObjectReference) at, value));
        }
    }

    /** Nothing more is read then. Also a chain that a program without locks made a ring of has an end so. */
    private boolean isFull() {
        return values.size() >= Math.min(limit, size);
    }

    private void add(Value key, Value value) {
        if (isFull()) return;
        if (keys != null) keys.add(key);
        values.add(value);
    }

    /** One that counts. */
    private Contents and(Value key, Value value) {
        size++;
        add(key, value);
        return this;
    }

    private void inSlices(Value table, Consumer<List<Value>> look) {
        int length = table instanceof ArrayReference ? ((ArrayReference) table).length() : 0;
        for (int from = 0; from < length && !isFull(); from += SLICE) {
            look.accept(((ArrayReference) table).getValues(from, Math.min(SLICE, length - from)));
        }
    }

    static List<Value> slice(ArrayReference array, int from, int count) {
        List<Value> values = new ArrayList<>();
        for (int read = 0; read < count; read = values.size()) {
            values.addAll(array.getValues(from + read, Math.min(SLICE, count - read)));
        }
        return values;
    }

    /** As much of it as its text shows; null as above. */
    static Contents brief(ObjectReference object) {
        return of(object, IN_A_TEXT);
    }

    /** In one line, as Java itself would write it. */
    String text() {
        return text(1);
    }

    private String text(int below) {
        StringBuilder text = new StringBuilder(keys == null ? "[" : "{");
        for (int at = 0; at < values.size(); at++) {
            if (at > 0) text.append(", ");
            if (keys != null) text.append(brief(keys.get(at), below)).append('=');
            text.append(brief(values.get(at), below));
        }
        if (size > values.size()) text.append(values.isEmpty() ? "" : ", ").append("... ").append(size - values.size()).append(" more");
        return text.append(keys == null ? ']' : '}').toString();
    }

    static String brief(Value value, int below) {
        String text;
        if (value == null) {
            text = "null";
        } else if (value instanceof StringReference) {
            text = ((StringReference) value).value();
        } else if (value instanceof ArrayReference) {
            text = array((ArrayReference) value);
        } else if (value instanceof ObjectReference) {
            ObjectReference object = (ObjectReference) value;
            Contents contents = below > 0 ? of(object, IN_A_TEXT) : null;
            if (contents != null) return contents.text(below - 1);
            String plain = plain(object);
            text = plain != null ? plain : object.referenceType().name() + "@" + object.uniqueID();
        } else {
            text = value.toString();
        }
        return text.length() <= TEXT ? text : text.substring(0, TEXT) + "...";
    }

    /** `int[3]`, and `int[3][]` for one of arrays. */
    static String array(ArrayReference array) {
        String type = array.type().name();
        int at = type.indexOf("[]");
        return type.substring(0, at) + "[" + array.length() + "]" + type.substring(at + 2);
    }

    /** A number in its box as the number, and a constant of an enumeration by its name. */
    static String plain(ObjectReference object) {
        Value inside = unboxed(object);
        if (inside != null) return inside.toString();
        if (object.referenceType() instanceof ClassType) {
            for (ClassType type = (ClassType) object.referenceType(); type != null; type = type.superclass()) {
                if (!type.name().equals("java.lang.Enum")) continue;
                Value name = get(object, "name");
                return name instanceof StringReference ? ((StringReference) name).value() : null;
            }
        }
        return null;
    }

    static Value unboxed(ObjectReference object) {
        switch (object.referenceType().name()) {
            case "java.lang.Boolean":
            case "java.lang.Character":
            case "java.lang.Byte":
            case "java.lang.Short":
            case "java.lang.Integer":
            case "java.lang.Long":
            case "java.lang.Float":
            case "java.lang.Double": return get(object, "value");
            default: return null;
        }
    }

    private static int number(ObjectReference object, String name) {
        Value value = get(object, name);
        return value instanceof IntegerValue ? ((IntegerValue) value).value() : 0;
    }

    private static long longNumber(ObjectReference object, String name) {
        Value value = get(object, name);
        return value instanceof LongValue ? ((LongValue) value).value() : 0;
    }

    private static Value get(ObjectReference object, String name) {
        Field field = field(object, name);
        return field == null ? null : object.getValue(field);
    }

    /** Also one that a class further up keeps to itself. */
    private static Field field(ObjectReference object, String name) {
        if (!(object.referenceType() instanceof ClassType)) return null;
        for (ClassType type = (ClassType) object.referenceType(); type != null; type = type.superclass()) {
            for (Field field : type.fields()) if (field.name().equals(name) && !field.isStatic()) return field;
        }
        return null;
    }
}
