// The bridge as it is used here: what the package's own does otherwise, or not at all, is in the place of it.
//
// It is compiled with the package's source, whose members are opened to it for that. The loop that hears events and what
// computes expressions stay there, mended where they are.

import com.sun.jdi.*;
import com.sun.jdi.request.*;

import java.io.*;
import java.net.*;
import java.util.*;
import java.util.concurrent.TimeUnit;

class Bridge extends JdiDapServer {
    private static final long BEGINNING_MILLISECONDS = 30_000;
    private static final long LAST_WORDS_MILLISECONDS = 1_000;
    /** Who asks for all of a collection gets these: of millions the bridge would die, and whoever reads them. */
    private static final int MOST_AT_ONCE = 10_000;
    private static final String[] LIBRARY = {"java.*", "javax.*", "jdk.*", "sun.*", "com.sun.*"};

    /** Where sources are looked for. */
    private volatile List<String> roots = List.of();
    /** What passes on the program's output. */
    private final List<Thread> relays = new ArrayList<>();
    /** The thread and the frame that each reference to variables was given for: a value for one of them is computed there. */
    private final Map<Integer, long[]> origins = new HashMap<>();
    /** How many elements there are behind each reference to a collection. */
    private final Map<Integer, Integer> counts = new HashMap<>();
    private long[] here;
    private final Beginning beginning = new Beginning();

    @Override
    void run(int port) throws Exception {
        try (Socket client = onlyClient(port)) {
            InputStream in = client.getInputStream();
            clientOut = client.getOutputStream();
            while (running) {
                Map<String, Object> message = readDapMessage(in);
                if (message == null) break;
                handleMessage(message);
            }
        } finally {
            cleanup();
        }
    }

    /** Nobody else is waited for, so the door is closed behind it. */
    private static Socket onlyClient(int port) throws IOException {
        try (ServerSocket door = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return Peer.accept(door);
        }
    }

    @Override
    void handleMessage(Map<String, Object> message) {
        String command = str(message, "command");
        if (!"setVariable".equals(command) && !"setExpression".equals(command)) {
            super.handleMessage(message);
            return;
        }
        int request = intVal(message, "seq");
        Map<String, Object> arguments = map(message, "arguments");
        try {
            if (vm == null || arguments == null) throw new IllegalStateException("there is no program");
            boolean named = "setVariable".equals(command);
            sendResponse(request, command, true, named ? setVariable(arguments) : setExpression(arguments));
        } catch (Exception error) {
            sendErrorResponse(request, command, "Not set: " + said(error));
        }
    }

    @Override
    void sendResponse(int request, String command, boolean success, Map<String, Object> body) {
        if ("initialize".equals(command)) {
            body.put("supportsSetVariable", true);
            body.put("supportsSetExpression", true);
        }
        if ("exceptionInfo".equals(command) && success) explain(body);
        Object count = "evaluate".equals(command) && success ? counts.get(body.get("variablesReference")) : null;
        if (count != null) body.put("indexedVariables", count);
        super.sendResponse(request, command, success, body);
    }

    /** Which null it was that something was asked of, Java finds out only when it is asked for the message. */
    private void explain(Map<String, Object> body) {
        Map<String, Object> details = map(body, "details");
        ExceptionStop stop = lastException;
        if (stop == null || details == null || details.containsKey("message")) return;
        try {
            ClassType type = (ClassType) stop.exception.referenceType();
            Method message = type.concreteMethodByName("getMessage", "()Ljava/lang/String;");
            String owner = message.declaringType().name();
            // What a program says there itself may stop, or never end; what is said of all is what is missing.
            if (!owner.startsWith("java.lang.") || owner.equals("java.lang.Throwable")) return;
            ThreadReference thread = findThread(stop.threadId);
            Value said = undisturbed(stop.exception, message, thread);
            if (!(said instanceof StringReference)) return;
            String text = ((StringReference) said).value();
            details.put("message", text);
            body.put("description", type.name() + ": " + text);
        } catch (Exception error) {
            log("no message of " + body.get("exceptionId") + ": " + error);
        }
    }

    /** Nothing may stop it on the way: whoever says that it is to go on is heard by the thread that waits for it here. */
    private Value undisturbed(ObjectReference object, Method method, ThreadReference thread) throws Exception {
        List<EventRequest> stops = new ArrayList<>(vm.eventRequestManager().breakpointRequests());
        stops.addAll(vm.eventRequestManager().exceptionRequests());
        stops.removeIf(stop -> !stop.isEnabled());
        stops.forEach(EventRequest::disable);
        try {
            return object.invokeMethod(thread, method, List.of(), ObjectReference.INVOKE_SINGLE_THREADED);
        } finally {
            stops.forEach(EventRequest::enable);
        }
    }

    // ---- from a launch to a program ----

    @Override
    void handleAttach(int request, Map<String, Object> arguments) throws Exception {
        roots = rootsOf(arguments);
        beginning.attaches(boolVal(arguments, "stopOnEntry", false));
        super.handleAttach(request, arguments);
    }

    @Override
    void handleConfigurationDone(int request, Map<String, Object> arguments) {
        super.handleConfigurationDone(request, arguments);
        beginning.configured();
    }

    @Override
    void handleContinue(int request, Map<String, Object> arguments) {
        beginning.goesOn();
        super.handleContinue(request, arguments);
    }

    /** Who attaches may want a stop and not know yet that there is one: a thread that is held twice would not go on. */
    @Override
    void handlePause(int request, Map<String, Object> arguments) {
        if (beginning.holds()) {
            sendResponse(request, "pause", true, new HashMap<>());
        } else {
            super.handlePause(request, arguments);
        }
    }

    /** The machine was started to wait for a debugger, before the first line of the program. */
    void waits(ThreadReference thread) {
        beginning.waits(thread);
    }

    /**
     * The first stop of a program that was attached to: it waits for that, or the client wants it to.
     *
     * It is told when both are known, in whichever order they come. A program that was launched is none of its business.
     */
    private class Beginning {
        private boolean attached, wanted, configured, told, over;
        /** The thread that waits, and will run the program. */
        private ThreadReference waits;

        synchronized void attaches(boolean wanted) {
            attached = true;
            this.wanted = wanted;
        }

        synchronized void waits(ThreadReference thread) {
            if (!attached) return;
            // It is held twice then, and would go on when it is told so for the second time.
            if (wanted) vm.resume();
            waits = thread;
            tell();
        }

        synchronized void configured() {
            configured = true;
            tell();
        }

        synchronized void goesOn() {
            over = told;
        }

        synchronized boolean holds() {
            return told && !over;
        }

        private void tell() {
            if (told || !attached || !configured || !(wanted || waits != null)) return;
            told = true;
            ThreadReference thread = waits != null ? waits : pickReportableThread();
            if (thread != null) sendStoppedEvent("entry", thread.uniqueID());
        }
    }

    @Override
    void handleLaunch(int request, Map<String, Object> arguments) throws Exception {
        String main = str(arguments, "mainClass");
        if (main == null || main.isEmpty()) {
            sendErrorResponse(request, "launch", "`mainClass` is needed: the class whose main method is run.");
            return;
        }
        roots = rootsOf(arguments);
        stopOnEntry = boolVal(arguments, "stopOnEntry", true);
        targetExitCode = null;
        exitedSent = false;
        try (ServerSocket door = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
            Process program = start(command(arguments, main, door.getLocalPort()), arguments);
            launchedProcess = program;
            Thread watcher = inBackground("exit", () -> {
                try {
                    targetExitCode = program.waitFor();
                } catch (InterruptedException ended) {
                    log("nobody waits for the program any more");
                }
            });
            watcher.start();
            relay("stdout", program.getInputStream());
            relay("stderr", program.getErrorStream());
            Peer.Line line = new Peer.Line(called(door, program));
            vm = Bootstrap.virtualMachineManager().createVirtualMachine(line, program);
        }
        launchSuspended = true;
        startEventLoop();
        registerPendingBreakpoints();
        registerPendingFunctionBreakpoints();
        sendResponse(request, "launch", true, new HashMap<>());
    }

    private List<String> command(Map<String, Object> arguments, String main, int port) {
        List<String> command = new ArrayList<>();
        command.add(strOr(arguments, "javaPath", findJava()));
        // It calls, and listens to nobody.
        command.add("-agentlib:jdwp=transport=dt_socket,server=n,suspend=y,address=127.0.0.1:" + port);
        command.addAll(words(arguments.get("vmArgs")));
        command.addAll(List.of("-cp", strOr(arguments, "classpath", "."), main));
        if (list(arguments, "args") != null) list(arguments, "args").forEach(word -> command.add(String.valueOf(word)));
        return command;
    }

    private static List<String> words(Object given) {
        List<String> words = new ArrayList<>();
        if (given instanceof List) for (Object word : (List<?>) given) words.add(String.valueOf(word));
        else if (given != null) words.addAll(Arrays.asList(String.valueOf(given).trim().split("\\s+")));
        words.removeIf(String::isEmpty);
        return words;
    }

    private static Process start(List<String> command, Map<String, Object> arguments) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command);
        // Nothing else reads there.
        builder.redirectInput(ProcessBuilder.Redirect.INHERIT);
        if (str(arguments, "cwd") != null) builder.directory(new File(str(arguments, "cwd")));
        Map<String, Object> environment = map(arguments, "env");
        if (environment != null) environment.forEach((name, value) -> {
            if (value == null) builder.environment().remove(name);
            else builder.environment().put(name, String.valueOf(value));
        });
        return builder.start();
    }

    private Socket called(ServerSocket door, Process program) throws Exception {
        door.setSoTimeout(100);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(BEGINNING_MILLISECONDS);
        while (true) {
            try {
                Socket peer = Peer.acceptOne(door);
                if (peer != null) return peer;
            } catch (SocketTimeoutException nobody) {
                // Looked at below, as after a stranger: one who calls again and again must not keep us waiting for ever.
            }
            if (!program.isAlive()) {
                hearLastWords();
                throw new IOException("Java ended with exit code " + program.exitValue() + " before the program began.");
            }
            if (System.nanoTime() - deadline > 0) throw new IOException("Java did not begin to run the program in 30 s.");
        }
    }

    /** As it comes: a question that waits for an answer has no line's end. */
    private void relay(String category, InputStream stream) {
        Thread thread = inBackground(category, () -> {
            char[] piece = new char[8192];
            try (Reader reader = new InputStreamReader(stream)) {
                int kept = 0;
                for (int count; (count = reader.read(piece, kept, piece.length - kept)) >= 0; ) {
                    int length = kept + count;
                    // A character of two halves goes as one.
                    kept = length > 0 && Character.isHighSurrogate(piece[length - 1]) ? 1 : 0;
                    if (length > kept) sendOutputEvent(category, new String(piece, 0, length - kept));
                    if (kept > 0) piece[0] = piece[length - 1];
                }
            } catch (IOException ended) {
                log("no more of the program's " + category);
            }
        });
        relays.add(thread);
        thread.start();
    }

    private static Thread inBackground(String name, Runnable work) {
        Thread thread = new Thread(work, "program-" + name);
        thread.setDaemon(true);
        return thread;
    }

    /** What it printed comes before its end is told; who keeps its output open beyond that is not waited for. */
    private void hearLastWords() {
        try {
            for (Thread relay : relays) relay.join(LAST_WORDS_MILLISECONDS);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    void maybeSendExitedEvent() {
        if (launchedProcess != null) hearLastWords();
        super.maybeSendExitedEvent();
    }

    // ---- sources and steps ----

    private static List<String> rootsOf(Map<String, Object> arguments) {
        List<String> roots = new ArrayList<>();
        if (list(arguments, "sourcePaths") != null) list(arguments, "sourcePaths").forEach(root -> roots.add(String.valueOf(root)));
        for (String below : new String[] {"", "src", "src/main/java", "src/test/java"}) {
            roots.add(new File(strOr(arguments, "cwd", "."), below).getPath());
        }
        roots.addAll(Arrays.asList(strOr(arguments, "classpath", ".").split(File.pathSeparator)));
        return roots;
    }

    /** Where it is, and not only what its package calls it. */
    @Override
    String resolveSourcePath(Location location) {
        String named = super.resolveSourcePath(location);
        if (new File(named).isAbsolute()) return named;
        for (String root : roots) {
            File file = new File(root, named);
            if (file.isFile()) return file.getAbsoluteFile().toPath().normalize().toString();
        }
        return named;
    }

    /**
     * Into no class of the library, where there is no source.
     *
     * A thread that waits does so in a native method, in which no step over a line would ever end: it is left, and so is
     * the library below it.
     */
    @Override
    void handleStep(int request, Map<String, Object> arguments, int depth) {
        String command = stepCommandName(depth);
        ThreadReference thread = findThread(longVal(arguments, "threadId"));
        if (vm == null || thread == null) {
            sendErrorResponse(request, command, "There is no such thread.");
            return;
        }
        clearFrameCache();
        try {
            boolean waits = thread.frameCount() > 0 && thread.frame(0).location().method().isNative();
            int leaving = waits && depth == StepRequest.STEP_OVER ? StepRequest.STEP_OUT : depth;
            StepRequest step = vm.eventRequestManager().createStepRequest(thread, StepRequest.STEP_LINE, leaving);
            if (waits || depth == StepRequest.STEP_INTO) for (String classes : LIBRARY) step.addClassExclusionFilter(classes);
            step.addCountFilter(1);
            step.setSuspendPolicy(EventRequest.SUSPEND_ALL);
            step.enable();
            beginning.goesOn();
            vm.resume();
        } catch (RuntimeException | IncompatibleThreadStateException error) {
            sendErrorResponse(request, command, "No step: " + said(error));
            return;
        }
        sendResponse(request, command, true, new HashMap<>());
    }

    /** A step that a breakpoint cut short goes too: while it is there, no other can be made. */
    @Override
    void clearFrameCache() {
        super.clearFrameCache();
        origins.clear();
        counts.clear();
        if (vm == null) return;
        try {
            EventRequestManager requests = vm.eventRequestManager();
            requests.deleteEventRequests(new ArrayList<>(requests.stepRequests()));
        } catch (VMDisconnectedException gone) {
            log("the program is gone");
        }
    }

    // ---- values ----

    @Override
    void handleEvaluate(int request, Map<String, Object> arguments) {
        Integer frame = intValOrNull(arguments, "frameId");
        here = frame == null ? null : decodeFrameId(frame);
        super.handleEvaluate(request, arguments);
    }

    @Override
    void handleVariables(int request, Map<String, Object> arguments) {
        int reference = intVal(arguments, "variablesReference");
        long start = longVal(arguments, "start");
        long count = longVal(arguments, "count");
        try {
            long[] scope = scopeRefMap.get(reference);
            ObjectReference object = varRefMap.get(reference);
            here = scope != null ? scope : origins.get(reference);
            List<Map<String, Object>> variables = new ArrayList<>();
            if (scope != null) variables = getFrameVariables(thread().frame((int) scope[1]));
            else if (object != null) variables = inside(object, (int) start, count > 0 ? count : MOST_AT_ONCE, count <= 0);
            sendResponse(request, "variables", true, mapOf("variables", variables));
        } catch (Exception error) {
            sendErrorResponse(request, "variables", "No variables: " + said(error));
        }
    }

    private List<Map<String, Object>> inside(ObjectReference object, int start, long count, boolean tellsRest) {
        int end = (int) Math.min(Integer.MAX_VALUE, start + count);
        List<Map<String, Object>> variables = new ArrayList<>();
        if (object instanceof ArrayReference) {
            ArrayReference array = (ArrayReference) object;
            String type = array.type().name();
            end = Math.min(end, array.length());
            if (start >= end) return variables;
            List<Value> values = Contents.slice(array, start, end - start);
            for (Value value : values) variables.add(makeVariable("[" + (start + variables.size()) + "]", typeOf(value, type), value));
            if (tellsRest) tellRest(variables, array.length() - end);
            return variables;
        }
        Contents contents = Contents.of(object, end);
        if (contents == null) return getObjectFields(object);
        for (int at = start; at < contents.values.size(); at++) {
            String name = contents.keys == null ? "[" + at + "]" : Contents.brief(contents.keys.get(at), 1);
            Value value = contents.values.get(at);
            variables.add(makeVariable(name, typeOf(value, "java.lang.Object[]"), value));
        }
        if (tellsRest) tellRest(variables, contents.size - contents.values.size());
        return variables;
    }

    private static void tellRest(List<Map<String, Object>> variables, int rest) {
        if (rest > 0) variables.add(new HashMap<>(Map.of("name", "...", "value", rest + " more", "variablesReference", 0)));
    }

    /** Its own, or that of the array's elements for none. */
    private static String typeOf(Value value, String array) {
        return value != null ? value.type().name() : array.substring(0, array.lastIndexOf("[]"));
    }

    @Override
    Map<String, Object> makeVariable(String name, String type, Value value) {
        Map<String, Object> variable = super.makeVariable(name, type, value);
        if (!(value instanceof ObjectReference) || value instanceof StringReference) return variable;
        ObjectReference object = (ObjectReference) value;
        origins.put((Integer) variable.get("variablesReference"), here);
        if (object instanceof ArrayReference) {
            variable.put("value", Contents.array((ArrayReference) object));
            counts.put((Integer) variable.get("variablesReference"), ((ArrayReference) object).length());
            return variable;
        }
        String plain = Contents.plain(object);
        Contents contents = plain == null ? Contents.brief(object) : null;
        if (plain != null) variable.put("value", plain);
        if (contents != null) {
            variable.put("value", contents.text());
            variable.put("indexedVariables", contents.size);
            counts.put((Integer) variable.get("variablesReference"), contents.size);
        }
        return variable;
    }

    private Map<String, Object> setVariable(Map<String, Object> arguments) throws Exception {
        int reference = intVal(arguments, "variablesReference");
        String name = str(arguments, "name");
        long[] scope = scopeRefMap.get(reference);
        here = scope != null ? scope : origins.get(reference);
        Place place = scope != null ? named(name) : inside(varRefMap.get(reference), name);
        return set(name, place, str(arguments, "value"));
    }

    private Map<String, Object> setExpression(Map<String, Object> arguments) throws Exception {
        Integer frame = intValOrNull(arguments, "frameId");
        here = frame == null ? null : decodeFrameId(frame);
        String expression = str(arguments, "expression").trim();
        return set(expression, placeOf(expression), str(arguments, "value"));
    }

    private Map<String, Object> set(String name, Place place, String text) throws Exception {
        ThreadReference thread = thread();
        try {
            place.put(place.fitted(computed(text), thread));
        } catch (InvalidTypeException other) {
            throw new IllegalArgumentException("`" + text + "` does not fit into " + place.type);
        }
        Map<String, Object> variable = makeVariable(name, place.type, place.get());
        variable.remove("name");
        return variable;
    }

    private Place placeOf(String expression) throws Exception {
        int bracket = expression.endsWith("]") ? opening(expression) : -1;
        if (bracket > 0) {
            Value array = computed(expression.substring(0, bracket));
            Value index = computed(expression.substring(bracket + 1, expression.length() - 1));
            if (array instanceof ArrayReference && index instanceof PrimitiveValue) {
                return Place.element((ArrayReference) array, ((PrimitiveValue) index).intValue());
            }
            throw new IllegalArgumentException("`" + expression + "` is no element of an array");
        }
        int dot = expression.lastIndexOf('.');
        if (dot < 0) return named(expression);
        String name = expression.substring(dot + 1).trim();
        List<ReferenceType> classes = vm.classesByName(expression.substring(0, dot).trim());
        Field shared = classes.isEmpty() ? null : classes.get(0).fieldByName(name);
        if (shared != null && shared.isStatic()) return Place.field(shared.declaringType(), shared);
        Value object = computed(expression.substring(0, dot));
        return inside(object instanceof ObjectReference ? (ObjectReference) object : null, name);
    }

    private static int opening(String expression) {
        int depth = 0;
        for (int at = expression.length() - 1; at >= 0; at--) {
            depth += expression.charAt(at) == ']' ? 1 : expression.charAt(at) == '[' ? -1 : 0;
            if (depth == 0) return at;
        }
        return -1;
    }

    /** What a bare name means in the frame. */
    private Place named(String name) throws Exception {
        StackFrame frame = thread().frame((int) here[1]);
        LocalVariable variable = frame.visibleVariableByName(name);
        if (variable != null) return Place.variable(thread(), (int) here[1], variable);
        Field field = frame.location().declaringType().fieldByName(name);
        if (field != null && field.isStatic()) return Place.field(field.declaringType(), field);
        if (field != null && frame.thisObject() != null) return Place.field(frame.thisObject(), field);
        throw new IllegalArgumentException("there is no variable `" + name + "`");
    }

    private static Place inside(ObjectReference object, String name) {
        if (object == null) throw new IllegalArgumentException("there is nothing that `" + name + "` is in");
        Contents contents = object instanceof ArrayReference ? null : Contents.of(object, 0);
        ArrayReference array = contents != null ? contents.array : object instanceof ArrayReference ? (ArrayReference) object : null;
        if (array != null && name.matches("\\[\\d{1,9}\\]")) {
            int index = Integer.parseInt(name.substring(1, name.length() - 1));
            if (contents == null || index < contents.size) return Place.element(array, index);
        }
        Field field = array == null && contents == null ? object.referenceType().fieldByName(name) : null;
        if (field == null) throw new IllegalArgumentException("`" + name + "` cannot be set in " + object.type().name());
        return Place.field(object, field);
    }

    private Value computed(String expression) throws Exception {
        return new ExprEvaluator(expression, vm, thread(), thread().frame((int) here[1])).evaluate();
    }

    private ThreadReference thread() {
        ThreadReference thread = here == null ? null : findThread(here[0]);
        if (thread == null) throw new IllegalStateException("the program has gone on since");
        return thread;
    }

    private static String said(Exception error) {
        if (error instanceof IncompatibleThreadStateException) return "the thread runs";
        if (error instanceof AbsentInformationException) return "the class was compiled without `-g`";
        return error.getMessage() != null ? error.getMessage() : error.getClass().getSimpleName();
    }
}
