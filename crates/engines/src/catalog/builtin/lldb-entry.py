# Stops a program in its own main; Rust's comes behind the one of C. Without either it is where the system starts it.
# No backquotes here: lldb takes what is between them for an expression.
import lldb
def stop():
    target = lldb.debugger.GetSelectedTarget()
    # What stops the program where there is no Python.
    plain = lldb.SBBreakpointList(target)
    target.FindBreakpointsByName("breakroom", plain)
    for at in range(plain.GetSize()):
        target.BreakpointDelete(plain.GetBreakpointAtIndex(at).GetID())
    program = target.GetModuleAtIndex(0)
    found = [each for each in program.FindFunctions("main", lldb.eFunctionNameTypeAuto)]
    def rank(each):
        name = each.GetFunction().GetName() or each.GetSymbol().GetName() or ""
        rust = each.GetCompileUnit().GetLanguage() == lldb.eLanguageTypeRust
        return (not each.GetFunction().IsValid(), not rust and "::" in name, name.count("::"))
    place = program.GetObjectFileEntryPointAddress()
    if found:
        best = min(found, key=rank)
        best = best.GetFunction() if best.GetFunction().IsValid() else best.GetSymbol()
        place = best.GetStartAddress()
        place.OffsetAddress(best.GetPrologueByteSize())
        if place.GetBlock().GetContainingInlinedBlock().IsValid():
            place = best.GetStartAddress()
    target.BreakpointCreateBySBAddress(place).SetOneShot(True)
stop()
