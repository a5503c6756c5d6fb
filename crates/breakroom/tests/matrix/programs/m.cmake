# Adds four times and prints each sum. One word says what else it does: see the other programs of this folder.
function(add a b)
  math(EXPR total "${a} + ${b}")
  set(total ${total} PARENT_SCOPE) # mark: add
endfunction()

set(word ${CMAKE_ARGV3})
if(CMAKE_ARGC EQUAL 6)
  set(word ${CMAKE_ARGV5})
endif()
foreach(number RANGE 119)
  math(EXPR value "${number} * 10")
  list(APPEND numbers ${value})
endforeach()
if(word STREQUAL "spin")
  message(STATUS "spinning")
  while(TRUE)
    set(count 1) # mark: spin
  endwhile()
endif()
if(word STREQUAL "throw")
  message(FATAL_ERROR "thrown") # mark: throw
endif()
if(word STREQUAL "talk")
  foreach(i RANGE 499)
    message(STATUS "line ${i}")
  endforeach()
  message(NOTICE "to stderr")
endif()
foreach(i RANGE 3)
  add(${i} 10) # mark: call
  message(STATUS "sum ${total}")
endforeach()
if(word STREQUAL "seven")
  cmake_language(EXIT 7)
endif()
list(GET numbers 119 last)
message(STATUS "done ${last}") # mark: end
