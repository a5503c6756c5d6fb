-- Adapters and configurations of nvim-dap for every language that Breakroom debugs: require("breakroom").setup{}.
-- It sets no key and no sign, changes no configuration of yours, and needs nothing but nvim-dap and Neovim 0.7.

local M = {}

-- Filetypes that get configurations.
M.filetypes = {
  "c", "cmake", "cpp", "cs", "ez", "go", "java", "javascript", "javascriptreact", "perl", "python", "ruby", "rust",
  "typescript", "typescriptreact",
}

-- Types that a launch.json names. The hub reads the type from the configuration, so one command serves all of them.
M.types = {
  "breakroom", "chrome", "cmake", "codelldb", "coreclr", "cppdbg", "debugpy", "delve", "ez", "gdb", "go", "java", "lldb",
  "lldb-dap", "netcoredbg", "node", "perl", "pwa-chrome", "pwa-node", "python", "rdbg", "ruby",
}

local defaults = { command = "breakroom", filetypes = M.filetypes, types = M.types }

-- The live sessions as `breakroom ls --json` lists them, or nil and what is wrong.
local function live_sessions(command)
  if vim.fn.executable(command) == 0 then
    return nil, ("cannot list sessions: there is no program %q; set `command` in setup{}"):format(command)
  end
  local text = vim.fn.system({ command, "ls", "--json" })
  local read, sessions = pcall(vim.json.decode, text)
  if vim.v.shell_error ~= 0 or not read then
    return nil, "cannot list sessions: " .. text
  end
  return vim.tbl_filter(function(session) return session.state ~= "ended" end, sessions)
end

-- Calls `on_choice` with the id of a live session, or with nil if there is none or none is chosen.
function M.pick_session(command, on_choice)
  local sessions, problem = live_sessions(command)
  if not sessions or #sessions == 0 then
    vim.notify("breakroom: " .. (problem or "there are no live sessions"), vim.log.levels.WARN)
    return on_choice(nil)
  end
  if #sessions == 1 then
    return on_choice(sessions[1].id)
  end
  local shown = function(session) return ("%s  %s  %s"):format(session.id, session.state, session.name) end
  vim.ui.select(sessions, { prompt = "Session: ", format_item = shown }, function(session)
    on_choice(session and session.id)
  end)
end

local function configurations(command, dap)
  -- nvim-dap calls a function in a configuration, and resumes a coroutine that it returns.
  local function session()
    return coroutine.create(function(run)
      M.pick_session(command, function(id) coroutine.resume(run, id or dap.ABORT) end)
    end)
  end
  return {
    { type = "breakroom", request = "launch", name = "Breakroom: this file", program = "${file}" },
    { type = "breakroom", request = "launch", name = "Breakroom: the project here", program = "${workspaceFolder}" },
    { type = "breakroom", request = "attach", name = "Breakroom: join a live session", breakroom = { session = session } },
  }
end

-- `command`: the program. `filetypes`: which get configurations. `types`: which get an adapter, unless they have one.
function M.setup(options)
  local wanted = vim.tbl_extend("force", defaults, options or {})
  local dap = require("dap")
  for _, kind in ipairs(wanted.types) do
    if kind == "breakroom" or not dap.adapters[kind] then
      dap.adapters[kind] = { type = "executable", command = wanted.command, args = { "dap" } }
    end
  end
  for _, filetype in ipairs(wanted.filetypes) do
    local others = vim.tbl_filter(function(configuration)
      return configuration.type ~= "breakroom" or not vim.startswith(configuration.name, "Breakroom: ")
    end, dap.configurations[filetype] or {})
    dap.configurations[filetype] = vim.list_extend(others, configurations(wanted.command, dap))
  end
  vim.api.nvim_create_autocmd({ "BufNewFile", "BufRead" }, {
    group = vim.api.nvim_create_augroup("breakroom", { clear = true }),
    pattern = "*.ez",
    callback = function()
      vim.bo.filetype = "ez"
      vim.bo.commentstring = "// %s"
    end,
  })
end

return M
