def brew(cups)
  per_cup = 8
  cups * per_cup
end

left = 100
left -= brew(1)
puts "#{left} beans are left"
