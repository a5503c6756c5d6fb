-- Runs a configuration of editors/nvim in a headless Neovim, with a stand-in for nvim-dap: it expands the configuration as
-- nvim-dap does, runs the adapter's command through vim.loop and speaks DAP to it. It keeps no session and shows nothing.
-- Environment: COMMAND, PLUGIN (its folder), FILE, LINE, NAME (of the configuration), RESULT (a file for what was seen).
local environment = vim.env
local function say(line)
  vim.fn.writefile({ line }, environment.RESULT, "a")
end

local mine = { type = "executable", command = "mine" }
local dap = { adapters = { python = mine }, configurations = { ez = { { type = "ez", name = "mine" } } }, ABORT = {} }
package.preload.dap = function() return dap end

local connection = { buffer = "", seq = 0, heard = {} }

function connection:start(adapter)
  self.input, self.output = vim.loop.new_pipe(false), vim.loop.new_pipe(false)
  local options = { args = adapter.args, stdio = { self.input, self.output, nil } }
  self.process = assert(vim.loop.spawn(adapter.command, options, function() self.ended = true end))
  self.output:read_start(function(failure, bytes)
    assert(not failure, failure)
    self.buffer = self.buffer .. (bytes or "")
    while true do
      local length, rest = self.buffer:match("^Content%-Length: (%d+)\r\n\r\n(.*)$")
      if not length or #rest < tonumber(length) then return end
      table.insert(self.heard, vim.json.decode(rest:sub(1, tonumber(length))))
      self.buffer = rest:sub(tonumber(length) + 1)
    end
  end)
end

function connection:send(command, arguments)
  self.seq = self.seq + 1
  local message = { seq = self.seq, type = "request", command = command, arguments = arguments }
  local text = vim.json.encode(message)
  self.input:write(("Content-Length: %d\r\n\r\n%s"):format(#text, text))
  return self.seq
end

function connection:wait(what, fits)
  local found
  vim.wait(30000, function()
    for _, message in ipairs(self.heard) do
      if fits(message) then found = message end
    end
    return found ~= nil
  end, 5)
  return assert(found, "no " .. what .. " in " .. vim.inspect(self.heard))
end

function connection:answer(seq)
  local answer = self:wait("answer", function(message) return message.request_seq == seq end)
  assert(answer.success, vim.inspect(answer))
  return answer.body
end

function connection:event(name)
  return self:wait(name, function(message) return message.event == name end).body
end

-- As nvim-dap: variables in texts, functions, and coroutines that functions return.
local function expand(value)
  if type(value) == "function" then value = value() end
  if type(value) == "thread" then
    local chooser, running = value, coroutine.running()
    vim.schedule(function() coroutine.resume(chooser, running) end)
    value = coroutine.yield()
  end
  if type(value) == "table" then return vim.tbl_map(expand, value) end
  if type(value) ~= "string" then return value end
  return (value:gsub("${file}", vim.fn.expand("%:p")):gsub("${workspaceFolder}", vim.fn.getcwd()))
end

local function debug_file()
  vim.opt.runtimepath:append(environment.PLUGIN)
  local breakroom = require("breakroom")
  breakroom.setup({ command = environment.COMMAND })
  breakroom.setup({ command = environment.COMMAND })
  assert(dap.adapters.python == mine, "an adapter of the user's was replaced")
  for _, kind in ipairs(breakroom.types) do assert(dap.adapters[kind], kind) end
  for _, filetype in ipairs(breakroom.filetypes) do
    local expected = filetype == "ez" and 4 or 3
    assert(#dap.configurations[filetype] == expected, filetype .. vim.inspect(dap.configurations[filetype]))
  end

  vim.cmd("edit " .. environment.FILE)
  say("filetype " .. vim.bo.filetype .. ", comment " .. vim.bo.commentstring)
  local configuration
  for _, one in ipairs(dap.configurations[vim.bo.filetype]) do
    if one.name == environment.NAME then configuration = expand(one) end
  end
  assert(configuration, "no configuration " .. environment.NAME)

  connection:start(dap.adapters[configuration.type])
  connection:answer(connection:send("initialize", {
    adapterID = "nvim-dap", clientID = "neovim", clientName = "neovim", pathFormat = "path",
    linesStartAt1 = true, columnsStartAt1 = true, supportsStartDebuggingRequest = true,
  }))
  local begun = connection:send(configuration.request, configuration)
  connection:event("initialized")
  local line = tonumber(environment.LINE)
  local places = { source = { path = environment.FILE }, breakpoints = { { line = line } } }
  connection:answer(connection:send("setBreakpoints", places))
  connection:answer(connection:send("configurationDone", vim.empty_dict()))
  connection:answer(begun)
  local thread = connection:event("stopped").threadId
  local frame = connection:answer(connection:send("stackTrace", { threadId = thread })).stackFrames[1]
  say(configuration.request .. " stopped at line " .. frame.line)
  connection:answer(connection:send("disconnect", vim.empty_dict()))
  vim.wait(30000, function() return connection.ended end, 5)
  say("done")
end

coroutine.wrap(function()
  local fine, problem = xpcall(debug_file, debug.traceback)
  if not fine then say("failed: " .. problem) end
  vim.schedule(function() vim.cmd("qall!") end)
end)()
