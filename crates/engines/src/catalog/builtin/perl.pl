# What mends Perl::LanguageServer while it is loaded, and runs it.
use Perl::LanguageServer::Methods::DebugAdapter ();
use Perl::LanguageServer::Methods::DebugAdapterInterface ();
use Encode ();
use AnyEvent::Util ();
use Coro::AnyEvent ();
use Errno ();
no warnings;
# A program that is gone must not take the server along when it is given input.
$SIG{PIPE} = sub {};

package Perl::LanguageServer::Methods::DebugAdapter;
# The thread keeps its number; what belongs to a stop ends with it.
sub clear_non_thread_ids {
    my ($self) = @_;
    my ($numbers, $known) = ($self->ref2id, $self->id2ref);
    delete $known->{delete $numbers->{$_}} for grep { !/^0:/ } keys %$numbers;
}
my $initialize; BEGIN { $initialize = \&_dapreq_initialize }
my $filter = { filter => "die", label => "A die that nothing catches", default => JSON::true() };
sub _dapreq_initialize {
    return { %{&$initialize}, supportsBreakroomInput => JSON::true(), exceptionBreakpointFilters => [$filter] };
}
sub _dapreq_setExceptionBreakpoints {
    my ($self, $workspace, $request) = @_;
    my $asked = $request->params;
    my @filters = (@{$asked->{filters} // []}, map { $_->{filterId} } @{$asked->{filterOptions} // []});
    my $stopped = $self->_temp_break($workspace);
    $self->send_request("exceptions", { die => scalar grep { $_ eq "die" } @filters });
    return { breakpoints => [map { { verified => $_ eq "die" ? JSON::true() : JSON::false() } } @filters] };
}
# What cannot be evaluated is an error and no value.
my ($evaluate, $set_variable); BEGIN { ($evaluate, $set_variable) = (\&_dapreq_evaluate, \&_dapreq_setVariable) }
my $or_fail = sub {
    my ($answer) = @_;
    return $answer if $answer->{name} ne "ERROR";
    die(($answer->{result} // $answer->{value}) =~ s/ at \(eval \d+\)(\[[^]]*\])? line \d+.*//sr . "\n");
};
sub _dapreq_evaluate { return $or_fail->(&$evaluate) }
sub _dapreq_setVariable { return $or_fail->(&$set_variable) }
sub _dapreq_setExpression {
    my ($self, $workspace, $request) = @_;
    my $asked = $request->params;
    $asked->{expression} .= " = $asked->{value}";
    my $answer = $self->_dapreq_evaluate($workspace, $request);
    return { value => $answer->{result}, variablesReference => $answer->{variablesReference} };
}
# A module that was found by a relative path is in the folder in which the program began.
my $stack; BEGIN { $stack = \&_dapreq_stackTrace }
sub _dapreq_stackTrace {
    my ($self) = @_;
    my ($answer, $folder) = (&$stack, $self->debugger_process->cwd);
    for my $source (map { $_->{source} } @{$answer->{stackFrames}}) {
        # In there a name is what the system calls a file: bytes.
        utf8::decode($source->{path});
        $source->{path} = "$folder/$source->{path}" if length $folder && $source->{path} !~ m{^[/(]};
    }
    return $answer;
}
# Nobody waits for a program to read: what it has not taken is kept, up to a limit, and written when there is room.
my $most_unread = 1 << 20;
sub _dapreq_input {
    my ($self, $workspace, $request) = @_;
    my ($process, $given) = ($self->debugger_process, $request->params);
    die "there is no program that reads\n" if !$process;
    my $input = $process->{breakroom_input} //= { unread => "" };
    die "the program's input has ended\n" if $input->{ends} || !$process->out_fh;
    my $text = Encode::encode_utf8($given->{text} // "");
    die "the program has not read what it was given before; wait until it does\n"
        if length($input->{unread}) + length $text > $most_unread;
    $input->{unread} .= $text;
    $input->{ends} = $given->{end};
    $input->{writer} //= Coro::async {
        while (length $input->{unread}) {
            my $count = $process->_write(substr $input->{unread}, 0, 1 << 16);
            # It does not read any more.
            if ($count <= 0) { @$input{qw(unread ends)} = ("", 1) }
            else { substr($input->{unread}, 0, $count, "") }
        }
        if ($input->{ends}) { close $process->out_fh; $process->out_fh(undef) }
        $input->{writer} = undef;
    };
    return {};
}

package Perl::LanguageServer::Methods::DebugAdapterInterface;
# What a program died of is told with its stop.
my ($stops, $send); BEGIN { ($stops, $send) = (\&_dapreq_di_break, __PACKAGE__->can("send_event")) }
my $died = "";
sub _dapreq_di_break {
    my $told = $_[2]->params;
    $died = $told->{died} // "";
    my $adapter = $Perl::LanguageServer::Methods::DebugAdapter::debug_adapters{$told->{session_id}};
    $adapter->debugger_process->breakroom_hear if $adapter && $adapter->debugger_process;
    goto &$stops;
}
sub send_event {
    my ($self, $event, $body) = @_;
    $body = { %$body, text => $died, description => $died } if $event eq "stopped" && length $died;
    return $self->$send($event, $body);
}

package Perl::LanguageServer::DebuggerProcess;
# The same for the half of the debugger that is inside the program.
my $inside = <<'INSIDE';
package Perl::LanguageServer::DebuggerInterface; no strict; no warnings;
my ($tell, $listen, $go_on) = (\&cprestop, \&idle, \&req_continue);
my ($at_entry, $is_told) = (1, delete $ENV{BREAKROOM_ENTRY});
my ($leaves, $free, $again);
# It answers a step and tells the stop behind it. The second would wait until the first is acknowledged, which takes 40 ms.
setsockopt $socket, Socket::IPPROTO_TCP(), Socket::TCP_NODELAY(), 1;
# How many subroutines are under way.
my $depth = sub {
    my $count;
    for (my $i = 0; my @frame = caller $i; $i++) {
        $count++ if defined $count && $frame[3] ne "(eval)";
        $count //= 0 if $frame[3] eq "DB::DB";
    }
    return $count;
};
# Where a program dies and nothing catches it, it stops once more. The package is the one in which no line is stopped at.
# A child that it forked has the same connection: if that stopped too, both would read what is said to one of them.
my ($stops_dying, $died, $own) = (undef, undef, $$);
*req_exceptions = sub { $stops_dying = $_[1]{die}; return };
my $tell_death = sub {
    my $text = $died;
    ($died, $break_reason) = (undef, undef);
    my $thread = defined $Coro::current ? $Coro::current + 0 : 1;
    my $told = { thread_ref => $thread, session_id => $session, reason => "exception", died => $text };
    __PACKAGE__->_send({ command => "di_break", arguments => $told });
};
{
    package DB;
    $SIG{__DIE__} = sub {
        return if $^S || !defined $^S || !$stops_dying || $$ != $own;
        ($died, $leaves, $free, $DB::signal) = ("$_[0]" =~ s/\s+\z//r, undef, 0, 1);
        goto &DB::DB;
    };
}
# The last thing that is called while it is known what made the program stop.
*showfile = sub { $break_reason ||= "step" if !$DB::signal && !$at_entry };
# A step that a breakpoint cut short would stop the program when its subroutine returns, although it was let go.
my $left_over = sub { $free && $break_reason eq "step" };
*cprestop = sub {
    return $tell_death->() if defined $died;
    goto &$tell if !defined $leaves && !$left_over->();
};
*idle = sub {
    my ($class) = @_;
    if ($left_over->()) { $break_reason = undef; return $class->cont }
    # Its own way out of a subroutine works only where the program was stepped in, and ends the program elsewhere.
    if (defined $leaves) {
        if ($break_reason eq "step" && $depth->() >= $leaves) { $break_reason = undef; return $class->next }
        $leaves = undef;
        $class->$tell;
    }
    if ($again) { ($again, $break_reason) = (0, "breakpoint"); $class->$tell }
    goto &$listen;
};
my $value_of = \&get_eval_result;
*get_eval_result = sub {
    my ($class, $frame, @rest) = @_;
    my $found = $value_of->($class, $frame + 1, @rest);
    die $found->{ERROR}[0] if $found->{ERROR};
    return $found;
};
# The debugger knows a module by the path that it was found by.
my ($folder, $set) = (do { require Cwd; Cwd::getcwd() }, \&req_breakpoint);
my $from_here = sub { $_[0] =~ m{^/} ? $_[0] : abs_path_nd($_[0], $folder) };
*req_breakpoint = sub {
    my ($class, $params) = @_;
    my $file = $params->{filename};
    # Files have their names in bytes, and whoever asks has letters.
    utf8::encode($file) if utf8::is_utf8($file);
    $params->{filename} = $file;
    if (length $file && !defined $main::{"_<$file"} && !$params->{dbg_filename}) {
        my ($known) = grep { m{^[^/(]} && $from_here->($_) eq $file } map { /^_<(.+)/ } keys %main::;
        $params->{dbg_filename} = $known if defined $known;
    }
    my $answer = &$set;
    my @names = map { \$answer->{$_} } grep { exists $answer->{$_} } qw(real_filename req_filename);
    utf8::decode($$_) for grep { defined $$_ } @names, map { \$_->[5] } @{$answer->{breakpoints}};
    return $answer;
};
my $loaded_file = \&DB::postponed;
*DB::postponed = sub {
    my $file = ref(\$_[0]) eq "GLOB" ? ${*{$_[0]}{SCALAR}} : "";
    my $asked = $file =~ m{^[^/(]} ? $from_here->($file) : $file;
    $postponed_breakpoints{$file} = delete $postponed_breakpoints{$asked}
        if $asked ne $file && exists $postponed_breakpoints{$asked};
    goto &$loaded_file;
};
# Text that a program holds as bytes is meant to be read, and a reference is none.
my $shown = \&get_scalar;
my %has_own = map { $_ => 1 } qw(SCALAR ARRAY HASH);
*get_scalar = sub {
    my (undef, $value) = @_;
    return eval { "$value" } // ref $value if ref $value && !$has_own{reftype($value)};
    my $text = &$shown;
    utf8::decode($text) if !utf8::is_utf8($text);
    return $text;
};
# It sorts the elements of an array as texts, and passes over what is no value, list or hash: subroutines, patterns, handles.
my $list = \&get_vars;
*get_vars = sub {
    my ($class, $from, $variables, $by_number) = @_;
    $by_number ||= !grep { /\D/ } keys %$from;
    $class->$list($from, $variables, $by_number);
    my @others;
    for my $name (keys %$from) {
        my $value = $from->{$name}[0];
        $value = $$value if ref $value eq "REF";
        next if $name =~ /^Handle/ || $has_own{reftype($value)};
        push @others, { name => $name, value => $class->get_scalar($value), type => ucfirst lc reftype($value) };
    }
    return if !@others;
    @$variables = sort { $by_number ? $a->{name} <=> $b->{name} : $a->{name} cmp $b->{name} } @$variables, @others;
};
# It waits at the first statement to be configured, and would go on from a breakpoint there.
*req_continue = sub {
    my ($if) = split /\0/, $DB::dbline{$DB::lineno};
    my $first = $at_entry && !$is_told;
    ($at_entry, $free) = (0, 1);
    if ($first && length $if && eval "package main; no strict; $if") { $again = 1; return }
    goto &$go_on;
};
for my $step (qw(req_next req_step_in)) { my $do = \&$step; *$step = sub { ($at_entry, $free) = (0, 0); goto &$do } }
*req_step_out = sub {
    my ($class) = @_;
    my $here = $depth->();
    ($at_entry, $free) = (0, !$here);
    goto &$go_on if !$here;
    $leaves = $here;
    $class->next;
    return;
};
INSIDE
my $begin; BEGIN { $begin = \&run_async }
sub run_async {
    my ($self) = @_;
    die "this Perl::LanguageServer starts programs in a way that is not known here: 2.5 and 2.6 are\n"
        if $ENV{PERL5DB} !~ /DB::DB\(\);/;
    local @ENV{qw(BREAKROOM_INSIDE BREAKROOM_ENTRY)} = ($inside, $self->stop_on_entry);
    local $ENV{PERL5DB} = $ENV{PERL5DB} =~ s/(?=DB::DB\(\);)/eval delete \$ENV{BREAKROOM_INSIDE}; /r;
    return &$begin;
}
# As it was written: not every piece is a line, and a letter may come in two.
sub breakroom_say {
    my ($self, $category, $data) = @_;
    my $kept = \$self->{"breakroom $category"};
    $data = $$kept . $data;
    $$kept = $data =~ s/([\xc0-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf7][\x80-\xbf]{0,2})\z// ? $1 : "";
    $self->send_event("output", { category => $category, output => Encode::decode_utf8($data) }) if length $data;
}
sub on_stdout { $_[0]->breakroom_say("stdout", $_[1]) }
sub on_stderr { $_[0]->breakroom_say("stderr", $_[1]) }
# It takes the end of a program's stdout for its end, and what the program said to its stderr last may still be on its way.
sub breakroom_quiet { $_[0]{breakroom_quiet} //= AnyEvent->condvar }
# Read by a thread, as it would be, what a program printed before a stop might be told behind it.
sub _read {
    my ($self, $data, $length, undef, $stderr) = @_;
    my $category = $stderr ? "stderr" : "stdout";
    my $pipe = $self->{breakroom_pipes}{$category} //= do {
        my $from = $stderr // $self->in_fh;
        AnyEvent::Util::fh_nonblocking($from, 1);
        $from;
    };
    # It is waited for even if it is there: of a program that prints without end there always is something, and whoever else
    # asks is heard while it is waited.
    my $count;
    do {
        Coro::AnyEvent::readable($pipe);
        $count = sysread $pipe, $$data, $length;
    } until defined $count || (!$!{EAGAIN} && !$!{EINTR});
    $self->breakroom_quiet->send if $stderr && !$count;
    return $count;
}
# What it printed until now.
sub breakroom_hear {
    my ($self) = @_;
    for my $category (qw(stdout stderr)) {
        my $pipe = $self->{breakroom_pipes}{$category} or next;
        # One that writes without end is not waited for.
        my $most = 1 << 20;
        while ($most > 0 && (my $count = sysread $pipe, my $data, 1 << 16)) {
            $most -= $count;
            $self->breakroom_say($category, $data);
        }
    }
}
sub on_exit {
    my ($self, $status) = @_;
    # Something that the program left behind may keep it open.
    my $late = AnyEvent->timer(after => 2, cb => sub { $self->breakroom_quiet->send });
    $self->breakroom_quiet->recv;
    # What looked like the beginning of a letter was none.
    for my $category (qw(stdout stderr)) {
        my $rest = delete $self->{"breakroom $category"};
        $self->send_event("output", { category => $category, output => Encode::decode_utf8($rest) }) if length $rest;
    }
    $self->send_event("exited", { exitCode => $status & 127 ? 128 + ($status & 127) : $status >> 8 });
    $self->send_event("terminated");
}

package main;
use Socket;
# Its port is open to every user of the machine, and its program calls there too, so it cannot be a socket. Whoever comes
# is let in only as the same user. The kernel is asked whose the far end of the connection is, which is some microseconds;
# where it does not answer, its table is read, which is milliseconds, and in which a row can be missed once while it changes.
my $listen = \&Perl::LanguageServer::tcp_server;
# `SOCK_DIAG_BY_FAMILY` of one connection of TCP in any state, and the fields of the answer that count.
my $asked = sub {
  my ($far, $near) = map { [unpack_sockaddr_in($_)] } @_;
  socket my $kernel, 16, SOCK_RAW, 4 or return;
  my $connection = pack "n2 a16 a16 L3", $far->[0], $near->[0], $far->[1], $near->[1], 0, (0xffffffff) x 2;
  send $kernel, pack("L S2 L2 C4 L", 72, 20, 1, 1, 0, AF_INET, 6, 0, 0, 0xffffffff) . $connection, 0 or return;
  defined recv $kernel, my $answer, 512, MSG_DONTWAIT or return;
  my ($kind, $state, $owner, $file) = unpack 'x4 S x11 C x62 L2', $answer;
  return length $answer >= 88 && $kind == 20 && $state != 10 && $file ? $owner : undef;
};
my $place = sub { my ($port, $address) = unpack_sockaddr_in($_[0]); sprintf "%08X:%04X", unpack("L", $address), $port };
my $looked_up = sub {
  my ($far, $near) = map { $place->($_) } @_;
  for (1 .. 3) {
    open my $table, "<", "/proc/net/tcp" or return;
    while (<$table>) {
      my @column = split;
      return $column[7] if $column[1] eq $far && $column[2] eq $near && $column[9];
    }
  }
  return;
};
my $is_ours = sub {
  my @ends = (getpeername $_[0], getsockname $_[0]);
  my $owner = $asked->(@ends) // $looked_up->(@ends);
  return defined $owner && $owner == $>;
};
no warnings "redefine";
*Perl::LanguageServer::tcp_server = sub {
  my ($host, $port, $serve) = @_;
  my $server = $listen->($host, $port, sub { $is_ours->($_[0]) ? $serve->(@_) : close $_[0] });
  # Said, it need not be tried out.
  syswrite STDOUT, "Perl listens\n";
  return $server;
};
Perl::LanguageServer::run();
