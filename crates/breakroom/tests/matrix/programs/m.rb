# Adds four times and prints each sum. One word says what else it does: see the other programs of this folder.
$stdout.sync = true

def add(a, b)
  total = a + b
  total # mark: add
end

def spin
  count = 0
  loop do
    count = (count + 1) % 1_000_000 # mark: spin
  end
end

def work
  puts "working" # mark: work
end

def talk
  500.times { |i| puts "line #{i}" }
  $stderr.puts "to stderr"
end

def main(word)
  numbers = (0...120).map { |i| i * 10 }
  if word == "spin"
    puts "spinning"
    spin
  end
  Thread.new { work }.join if word == "threads"
  if word == "throw"
    raise ArgumentError, "thrown" # mark: throw
  end
  puts "hello #{$stdin.gets.chomp}" if word == "ask"
  talk if word == "talk"
  (0...4).each do |i|
    total = add(i, 10) # mark: call
    File.write(word, "") if word&.start_with?("/")
    puts "sum #{total}"
  end
  exit 7 if word == "seven"
  puts "done #{numbers[119]}" # mark: end
end

main(ARGV[0])
