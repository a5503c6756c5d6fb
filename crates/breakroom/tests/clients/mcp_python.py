"""Drives every tool with the public client of Python's package `mcp`.

Arguments: the binary, the lifecycle (`legacy` or `auto`), the program to debug, and the lines of its marks `ask` and `return`.
"""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters, stdio_client

BINARY, MODE, PROGRAM = sys.argv[1:4]
ASK, RETURN = (int(line) for line in sys.argv[4:6])
# A slow machine only makes a call longer.
PATIENTLY = 45000


def door(name):
    # Without it the package passes on only a few variables.
    server = StdioServerParameters(command=BINARY, args=["mcp", "--as", name], env=dict(os.environ), cwd=os.getcwd())
    return Client(stdio_client(server), mode=MODE)


class Agent:
    def __init__(self, client):
        self.client = client
        self.used = set()

    async def call(self, tool, fails=False, **arguments):
        self.used.add(tool)
        result = await self.client.call_tool("debugger_" + tool, arguments)
        text = result.content[0].text
        assert result.is_error == fails, f"{tool} {arguments}: {text}"
        data = result.structured_content
        assert isinstance(data, dict), f"{tool} {arguments}: {result}"
        # Whoever waits is told that it runs still, and waits on.
        while tool in ("start", "continue", "step", "wait", "pause", "restart") and arguments.get("wait_ms") == PATIENTLY:
            if data["state"] not in ("running", "starting"):
                break
            waited = {"session_id": data["session_id"], "wait_ms": PATIENTLY}
            data = (await self.client.call_tool("debugger_wait", waited)).structured_content
        return text, data


def stands_at(data, line):
    assert (data["state"], data.get("line")) == ("paused", line), data


async def session(agent, other):
    _, data = await agent.call("start", program=PROGRAM, breakpoints=[{"line": ASK}], wait_ms=PATIENTLY)
    stands_at(data, ASK)
    own = data["session_id"]
    text, data = await agent.call("set_breakpoint", text="return greeting")
    assert (data["state"], data["line"]) == ("verified", RETURN), text
    _, data = await agent.call("continue", wait_ms=0)
    assert data["state"] == "running", data
    epoch = data["epoch"]
    await agent.call("input", text="bob\n")
    _, data = await agent.call("wait", after_epoch=epoch, wait_ms=PATIENTLY)
    stands_at(data, RETURN)
    assert {"name": "greeting", "type": "str", "value": "'hello bob'"} in data["locals"], data

    text, data = await agent.call("inspect", what="stack")
    assert [frame["function"] for frame in data["stack"]] == ["greet", "<module>"], text
    text, data = await agent.call("inspect", what="variables", filter="tim")
    assert [variable["name"] for variable in data["variables"]] == ["times"], text
    text, data = await agent.call("inspect", what="source", count=4)
    assert "mark: return" in data["text"], text
    text, data = await agent.call("inspect", what="threads")
    assert [thread["stopped"] for thread in data["threads"]] == [True], text
    text, data = await agent.call("evaluate", expression="greeting.upper()")
    assert data["result"] == "'HELLO BOB'", text
    await agent.call("set_variable", name="greeting", value="'bye '")
    await agent.call("evaluate", fails=True, expression="nothing")

    # Another agent comes, sees where it stands, and leaves it to the first.
    _, data = await other.call("attach", session_id=own, wait_ms=PATIENTLY)
    stands_at(data, RETURN)
    text, data = await agent.call("get_session", session_id=own)
    assert data["clients"] == ["agent", "guest"], text
    _, data = await other.call("stop", session_id=own)
    assert data["state"] == "left", data

    # Out of the function, and on with the loop.
    _, data = await agent.call("step", kind="out", wait_ms=PATIENTLY)
    assert data["stack"][0]["function"] == "<module>", data
    steps = [{"tool": "continue"}, {"tool": "evaluate", "expressions": ["times", "greeting"]}]
    text, data = await agent.call("script", steps=steps, repeat=2, wait_ms=PATIENTLY)
    rows = [row["result"] for row in data["rows"] if row["step"] == "evaluate"]
    assert rows == [f"times = {times} | greeting = 'hello bob'" for times in (2, 3)], text

    text, data = await agent.call("breakpoints")
    assert [one["hits"] for one in data["breakpoints"]] == [1, 3], text
    text, data = await agent.call("breakpoints", remove=["2"])
    assert [one["id"] for one in data["breakpoints"]] == [1], text
    _, data = await agent.call("continue", wait_ms=PATIENTLY)
    assert (data["state"], data["exit_code"]) == ("ended", 3), data
    text, data = await agent.call("inspect", what="output", cursor=0)
    assert data["output"].endswith("bye \n" + "hello bob" * 2 + "\n" + "hello bob" * 3 + "\n"), text

    _, data = await agent.call("restart", wait_ms=PATIENTLY)
    stands_at(data, ASK)
    _, data = await agent.call("stop")
    assert data["state"] == "ended", data


async def paused(agent):
    _, data = await agent.call("start", program=PROGRAM, args=["spin"], wait_ms=0)
    own = data["session_id"]
    _, data = await agent.call("get_session", session_id=own)
    while data["state"] == "starting":
        _, data = await agent.call("get_session", session_id=own)
    assert data["state"] == "running", data
    _, data = await agent.call("pause", wait_ms=PATIENTLY)
    assert data["state"] == "paused", data
    await agent.call("stop", session_id=own)
    await agent.call("continue", fails=True, session_id=own)


async def others(client):
    assert client.instructions, "there are instructions"
    prompts = await client.list_prompts()
    assert [prompt.name for prompt in prompts.prompts] == ["debugging-workflow"], prompts
    prompt = await client.get_prompt("debugging-workflow", {"program": "fizz.py"})
    assert "fizz.py" in prompt.messages[0].content.text, prompt
    templates = await client.list_resource_templates()
    assert templates.resource_templates, templates
    for resource in (await client.list_resources()).resources:
        assert (await client.read_resource(resource.uri)).contents, resource


async def main():
    async with door("agent") as client, door("guest") as guest:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        agent, other = Agent(client), Agent(guest)
        await session(agent, other)
        await paused(agent)
        await others(client)
        used = {"debugger_" + tool for tool in agent.used | other.used}
        assert used == tools, f"never called: {tools - used}"
        print("every tool was called with protocol", client.protocol_version)


asyncio.run(main())
