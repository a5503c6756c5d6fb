# Reads what lldb does not of the library of g++: tables, tuples, arrays and views. What fails of it is shown as lldb shows it
# by itself. No backquotes or backslashes here: lldb takes what is between the former for an expression, Python the latter.
import json, lldb
def mend():
    from lldb.formatters.cpp import gnu_libstdcpp as readers
    # Members of one value, letters of a text, and what either can believably have.
    most, longest, believable = 10, 40000, 1 << 32
    class Parts:
        def __init__(self, value, _):
            self.value = value
        def update(self):
            try:
                self.parts = self.found(self.value.GetNonSyntheticValue())
            except Exception:
                self.parts = []
        def num_children(self):
            return len(self.parts)
        def has_children(self):
            return bool(self.parts)
        def get_child_index(self, name):
            number = name.strip("[]")
            return int(number) if number.isdigit() else -1
        def get_child_at_index(self, at):
            return self.parts[at].Clone("[%d]" % at) if 0 <= at < len(self.parts) else None
    # lldb asks the allocator of a table for the type of its elements, of which the compiler tells nothing unless there is a
    # reason to; the table itself always knows it. And it goes from the first element to each one anew.
    class Table(Parts):
        def update(self):
            self.count, self.nodes = 0, []
            try:
                table = self.value.GetNonSyntheticValue().GetChildMemberWithName("_M_h").GetNonSyntheticValue()
                self.kind = table.GetType().GetTemplateArgumentType(1)
                self.first = table.GetChildMemberWithName("_M_before_begin").GetChildMemberWithName("_M_nxt")
                count = table.GetChildMemberWithName("_M_element_count").GetValueAsUnsigned()
                # One that is not there yet has any number.
                room = table.GetChildMemberWithName("_M_rehash_policy").GetChildMemberWithName("_M_next_resize")
                is_there = self.kind.IsValid() and count <= room.GetValueAsUnsigned() < believable
                self.count = count if is_there and self.first.GetValueAsUnsigned() else 0
            except Exception:
                pass
        def num_children(self):
            return self.count
        def has_children(self):
            return self.count > 0
        def get_child_at_index(self, at):
            while 0 <= at < self.count and len(self.nodes) <= at:
                node = self.nodes[-1].GetChildMemberWithName("_M_nxt") if self.nodes else self.first
                # Its number is wrong if they end before it.
                if not node.GetValueAsUnsigned():
                    self.count = len(self.nodes)
                    break
                self.nodes.append(node)
            node = self.nodes[at] if 0 <= at < self.count else None
            size = node.GetType().GetByteSize() if node else 0
            return node.CreateChildAtOffset("[%d]" % at, size, self.kind) if node else None
    # Each level holds one element, and all that come behind it one level up.
    class Tuple(Parts):
        def found(self, level):
            bases = [level.GetChildAtIndex(at) for at in range(level.GetNumChildren())]
            below = [base for base in bases if base.GetTypeName().startswith("std::_Tuple_impl<")]
            heads = [base for base in bases if base.GetTypeName().startswith("std::_Head_base<")]
            # An empty one is its own base.
            own = [head.GetChildMemberWithName("_M_head_impl") for head in heads]
            return [each if each.IsValid() else head for each, head in zip(own, heads)] + [
                each for base in below for each in self.found(base.GetNonSyntheticValue())
            ]
    class Array(Parts):
        def update(self):
            self.elements = self.value.GetNonSyntheticValue().GetChildMemberWithName("_M_elems")
        def num_children(self):
            return self.elements.GetNumChildren()
        def has_children(self):
            return self.num_children() > 0
        def get_child_at_index(self, at):
            return self.elements.GetChildAtIndex(at)
    def told(value):
        return value.GetSummary() or value.GetValue() or "…"
    def tuple_of(value, _):
        count = value.GetNumChildren()
        parts = [told(value.GetChildAtIndex(at)) for at in range(min(count, most))]
        return "(%s)" % ", ".join(parts + ["…"] if count > most else parts)
    def view_of(value, _):
        whole, failure = value.GetNonSyntheticValue(), lldb.SBError()
        length = whole.GetChildMemberWithName("_M_len").GetValueAsUnsigned()
        place = whole.GetChildMemberWithName("_M_str").GetValueAsUnsigned()
        if not length or length >= believable:
            return "…" if length else '""'
        read = value.GetProcess().ReadMemory(place, min(length, longest), failure)
        if failure.Fail():
            return "…"
        # What would end a line or the text itself is spelled as in a program.
        spelled = lambda text: json.dumps(text, ensure_ascii=False)
        text = read.decode("utf8", "replace")
        return spelled(text) if length <= longest else "%s (%d bytes)" % (spelled(text + "…"), length)
    # What goes by this name is known to lldb.
    readers.StdUnorderedMapSynthProvider = Table
    readers.BreakroomTuple, readers.BreakroomArray = Tuple, Array
    readers.breakroom_tuple, readers.breakroom_view = tuple_of, view_of
    for kind, names in (
        ("synthetic add -l HERE.BreakroomTuple", "^std::tuple<.*>$"),
        ("synthetic add -l HERE.BreakroomArray", "^std::array<.+>$"),
        ("summary add -e -s 'size=${svar%#}'", "^std::array<.+>$"),
        ("summary add -e -F HERE.breakroom_tuple", "^std::(tuple|pair)<.*>$"),
        ("summary add -e -F HERE.breakroom_view", "^std::(basic_string_view<char(, .+)?>|string_view)$"),
    ):
        kind = kind.replace("HERE", readers.__name__)
        lldb.debugger.HandleCommand("type %s -x '%s' --category cplusplus" % (kind, names))
try:
    mend()
except (ImportError, AttributeError):
    pass
