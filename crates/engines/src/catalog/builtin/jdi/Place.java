// Something that a value can be put into: a variable of a frame, a field, an element of an array.
//
// What does not fit is refused as Java would refuse it, but a number goes into its box and out of it.

import com.sun.jdi.*;

import java.util.List;
import java.util.Set;

abstract class Place {
    private static final Set<String> PRIMITIVES =
            Set.of("boolean", "char", "byte", "short", "int", "long", "float", "double");

    final String type;

    private Place(String type) {
        this.type = type;
    }

    abstract void put(Value value) throws InvalidTypeException, ClassNotLoadedException;

    abstract Value get();

    /** The frame is asked for when the value is there: what was called for it has ended the one that there was. */
    static Place variable(ThreadReference thread, int depth, LocalVariable variable) {
        return new Place(variable.typeName()) {
            @Override
            void put(Value value) throws InvalidTypeException, ClassNotLoadedException {
                frame().setValue(variable, value);
            }

            @Override
            Value get() {
                return frame().getValue(variable);
            }

            private StackFrame frame() {
                try {
                    return thread.frame(depth);
                } catch (IncompatibleThreadStateException running) {
                    throw new IllegalStateException("the thread runs", running);
                }
            }
        };
    }

    static Place field(ObjectReference object, Field field) {
        if (field.isStatic()) return field(field.declaringType(), field);
        return new Place(changeable(field).typeName()) {
            @Override
            void put(Value value) throws InvalidTypeException, ClassNotLoadedException {
                object.setValue(field, value);
            }

            @Override
            Value get() {
                return object.getValue(field);
            }
        };
    }

    static Place field(ReferenceType owner, Field field) {
        if (!(owner instanceof ClassType)) throw new IllegalArgumentException("`" + field.name() + "` is a constant");
        return new Place(changeable(field).typeName()) {
            @Override
            void put(Value value) throws InvalidTypeException, ClassNotLoadedException {
                ((ClassType) owner).setValue(field, value);
            }

            @Override
            Value get() {
                return owner.getValue(field);
            }
        };
    }

    static Place element(ArrayReference array, int index) {
        if (index < 0 || index >= array.length()) {
            throw new IllegalArgumentException("there is no element " + index + " in " + Contents.array(array));
        }
        String type = array.type().name();
        return new Place(type.substring(0, type.lastIndexOf("[]"))) {
            @Override
            void put(Value value) throws InvalidTypeException, ClassNotLoadedException {
                array.setValue(index, value);
            }

            @Override
            Value get() {
                return array.getValue(index);
            }
        };
    }

    private static Field changeable(Field field) {
        if (field.isFinal()) throw new IllegalArgumentException("`" + field.name() + "` is final");
        return field;
    }

    /** The value as it is kept in a place of this type. */
    Value fitted(Value value, ThreadReference thread) throws Exception {
        VirtualMachine vm = thread.virtualMachine();
        boolean primitive = PRIMITIVES.contains(type);
        if (primitive && value == null) throw new IllegalArgumentException("null does not fit into " + type);
        if (primitive && value instanceof ObjectReference) {
            Value inside = Contents.unboxed((ObjectReference) value);
            value = inside != null ? inside : value;
        }
        if (type.equals("float") && value instanceof DoubleValue) return vm.mirrorOf(((DoubleValue) value).floatValue());
        return primitive || !(value instanceof PrimitiveValue) ? value : boxed((PrimitiveValue) value, thread);
    }

    private Value boxed(PrimitiveValue value, ThreadReference thread) throws Exception {
        VirtualMachine vm = thread.virtualMachine();
        boolean number = !(value instanceof BooleanValue || value instanceof CharValue);
        switch (number ? type : "") {
            case "java.lang.Byte": return box(vm.mirrorOf(value.byteValue()), "Byte", "B", thread);
            case "java.lang.Short": return box(vm.mirrorOf(value.shortValue()), "Short", "S", thread);
            case "java.lang.Long": return box(vm.mirrorOf(value.longValue()), "Long", "J", thread);
            case "java.lang.Float": return box(vm.mirrorOf(value.floatValue()), "Float", "F", thread);
            case "java.lang.Double": return box(vm.mirrorOf(value.doubleValue()), "Double", "D", thread);
            default: break;
        }
        if (value instanceof BooleanValue) return box(value, "Boolean", "Z", thread);
        if (value instanceof CharValue) return box(value, "Character", "C", thread);
        if (value instanceof LongValue) return box(value, "Long", "J", thread);
        if (value instanceof FloatValue) return box(value, "Float", "F", thread);
        if (value instanceof DoubleValue) return box(value, "Double", "D", thread);
        return box(vm.mirrorOf(value.intValue()), "Integer", "I", thread);
    }

    private static Value box(Value value, String name, String sign, ThreadReference thread) throws Exception {
        ClassType box = (ClassType) thread.virtualMachine().classesByName("java.lang." + name).get(0);
        Method make = box.concreteMethodByName("valueOf", "(" + sign + ")Ljava/lang/" + name + ";");
        return box.invokeMethod(thread, make, List.of(value), ObjectReference.INVOKE_SINGLE_THREADED);
    }
}
