# What rdbg 1.4 does wrong and later versions do not. The path is the debugger's own: otherwise these methods would be on the
# stacks that they are behind.
RubyVM::InstructionSequence.compile(%q{
  if DEBUGGER__::SESSION.instance_variable_defined?(:@subsession) && !DEBUGGER__::ThreadClient.method_defined?(:untold)
    # It dies of a thread that comes to a breakpoint before it is told to stand for another one's. Such stops are kept and told
    # one by one, and nothing lets these threads go until then. Those that wait while a file is read do not stand, nor those
    # that were let go and have not heard it: they would be let go twice, or never answer. What a thread is asked where a
    # signal stopped it may come to a breakpoint, and a stop there would never answer either.
    DEBUGGER__::ThreadClient.prepend(Module.new {
      attr_accessor :untold
      def stands?
        !@reading && @q_cmd.empty?
      end
      def process_dap(*asked)
        @asked = true
        super
      ensure
        @asked = false
      end
      def suspend(event, *where, **why)
        return if @asked
        self.untold = event != :pause && !management?
        super
      end
      def on_load(*file)
        @reading = true
        super
      ensure
        @reading = false
      end
    })
    DEBUGGER__::Session.prepend(Module.new {
      def pop_event
        @kept ||= []
        return @kept.shift unless @subsession || @kept.empty?
        while (event = super) && @subsession && event[2] == :suspend && event[4] != :replay
          @kept << event
        end
        event
      end
      def process_event(event)
        if event[2] == :suspend
          event[0].untold = false
          @told = event[0]
        end
        super
      end
      private def waiting_thread_clients
        super.select { |tc| tc.stands? && !tc.untold }
      end
      private def stop_all_threads
        @thread_stopper.enable unless @thread_stopper.enabled?
      end
      # Of those that stand only @tc runs what it is asked.
      def find_waiting_tc(id)
        tc = super
        @tc = tc if tc&.stands?
      end
      private def leave_subsession(type)
        @tc = @told if @tc&.untold
        super
      end
      # It never takes a filter back, and stops twice at what two of them are for.
      def forget_filters
        @bps.delete_if { |_, bp| DEBUGGER__::CatchBreakpoint === bp && bp.delete }
      end
      def add_catch_breakpoint(name)
        bp = super
        @bps.delete([:catch, 'RuntimeError'])&.delete if @bps.key?([:catch, 'Exception'])
        bp
      end
    })
    DEBUGGER__::SESSION.instance_variable_get(:@ui).define_singleton_method(:recv_request) {
      request = super()
      DEBUGGER__::SESSION.forget_filters if request && request['command'] == 'setExceptionBreakpoints'
      request
    }
  end
}, *[DEBUGGER__::ThreadClient.instance_method(:suspend).source_location[0]] * 2).eval
