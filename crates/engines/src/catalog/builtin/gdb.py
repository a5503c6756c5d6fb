# Tells by which signal a program was stopped or ended, which gdb knows and does not say, and what the program wrote before
# that: gdb waits for whole lines, and reads them beside what it tells. What it prints of a breakpoint that is not there yet is
# in its answer already.
def tell(read_containers):
    import codecs, gdb, os, signal, sys, threading
    import gdb.dap.events as events
    # Its name in the package is the one server that there is.
    server = sys.modules["gdb.dap.server"]
    send = events.send_event
    end, read = bytes(3) + b"breakroom" + bytes(3), threading.Event()
    def read_output(self):
        stream = self._child_stream if hasattr(self, "_child_stream") else self.child_stream
        decoder, kept = codecs.getincrementaldecoder("utf-8")("replace"), b""
        while True:
            part = os.read(stream.fileno(), 65536)
            kept += part
            if end in kept:
                kept = kept.replace(end, b"")
                tell_output(decoder.decode(kept))
                kept = b""
                read.set()
            else:
                # What may be the beginning of that.
                here = next((at for at in range(max(0, len(kept) - len(end)), len(kept)) if end.startswith(kept[at:])), len(kept))
                tell_output(decoder.decode(kept[:here]))
                kept = kept[here:]
            if not part:
                return
    def tell_output(text):
        if text:
            send("output", {"category": "stdout", "output": text})
    def name_of(number):
        try:
            return signal.Signals(int(number)).name
        except ValueError:
            return "%d" % number
    def read_all():
        if reads:
            read.clear()
            os.write(1, end)
            read.wait(2)
    def told(name, body=None):
        if name == "exited":
            read_all()
            number = gdb.convenience_variable("_exitsignal")
            body = body if number is None else {**body, "exitCode": 128 + int(number)}
        if name == "stopped" and body.get("reason") == "signal":
            try:
                number = gdb.parse_and_eval("$_siginfo.si_signo")
                body = {**body, "reason": "exception", "description": "signal " + name_of(number)}
                # It may have said why.
                read_all()
            except gdb.error:
                pass
        if name == "stopped" and panics():
            read_all()
        send(name, body)
        if name == "stopped":
            gdb.post_event(read_containers)
    def panics():
        try:
            return (gdb.newest_frame().name() or "").endswith("::rust_panic")
        except gdb.error:
            return False
    reads = hasattr(server.Server, "_read_inferior_output")
    if reads:
        server.Server._read_inferior_output = read_output
    events.send_event = told
def make_quietly():
    import gdb, sys
    import gdb.dap.breakpoint as breakpoint
    make = breakpoint._set_one_breakpoint
    class Make(gdb.Command):
        def __init__(self):
            super().__init__("breakroom-make-breakpoint", gdb.COMMAND_OBSCURE)
        def invoke(self, *_):
            try:
                self.made, self.failed = make(**self.asked), None
            except Exception as failed:
                self.failed = failed
    command = Make()
    def made(**asked):
        command.asked = asked
        gdb.execute("breakroom-make-breakpoint", to_string=True)
        if command.failed:
            raise command.failed
        return command.made
    breakpoint._set_one_breakpoint = made
# How the containers of C++ are read, the system's compiler says in a script beside its library. This takes gdb so long that the
# first stop would come a quarter later, so it is read behind a stop; the system's own gdb has looked there by itself.
def reader_of_containers():
    import gdb, os
    def read():
        current = gdb.current_objfile
        # A program that runs again has its libraries anew, so each keeps for itself that it was looked at.
        for objfile in (each for each in gdb.objfiles() if not hasattr(each, "breakroom_looked_at")):
            objfile.breakroom_looked_at = True
            script = "/usr/share/gdb/auto-load" + os.path.realpath(objfile.filename or "") + "-gdb.py"
            if objfile.pretty_printers or not os.path.exists(script):
                continue
            # Whose printers these are, such a script asks gdb, which would say so only if it had found it itself.
            gdb.current_objfile = lambda: objfile
            try:
                gdb.execute("source " + script, to_string=True)
            except gdb.error:
                pass
            finally:
                gdb.current_objfile = current
    return (lambda: None) if gdb.PYTHONDIR.startswith("/usr/share/gdb/") else read
# What says how a value is to be read may say nothing of the value itself, or only what it is. gdb would show the word None for
# a pair, and of a list how long it is.
def tell_contents():
    import gdb
    import gdb.dap.varref as varref
    plain = varref.VariableReference.to_object
    limits = {"max_elements": 10, "max_depth": 3, "max_characters": 100}
    def told(self):
        shown = plain(self)
        # What has no reader is shown by gdb's own, which tells what there is to be told.
        if self.has_children() and gdb.default_visualizer(self._value) is not None:
            try:
                shown[self._result_name] = self._value.format_string(**limits)
            except gdb.error:
                if self._printer.to_string() is None:
                    shown[self._result_name] = "..."
        return shown
    varref.VariableReference.to_object = told
# Of a text it would tell 200 letters. Before 14 the number is that of all elements, of which nobody wants so many.
def tell_texts():
    import gdb
    try:
        gdb.execute("set print characters 40000", to_string=True)
    except gdb.error:
        pass
# It writes to the program's own pipe, and ends a line with a second write: what it says of threads, of children and of the
# end, which the protocol tells anyway, would stand in the midst of what the program prints.
def tell_only_output():
    import gdb
    for events in ("thread-events", "inferior-events"):
        gdb.execute("set print " + events + " off", to_string=True)
try:
    tell_only_output()
    tell_texts()
    tell_contents()
    tell(reader_of_containers())
    make_quietly()
except (ImportError, AttributeError, KeyError):
    pass
