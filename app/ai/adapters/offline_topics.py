"""What the offline guide says about Pinyon, as Markdown; it must never promise what the program doesn't do."""

from __future__ import annotations

LABEL = "Offline guide, not a language model: I match plain requests and run the real tools."

EXAMPLES = """\
- `list the files here` · `list the files in src` · `find *.py`
- `read README.md lines 1-20` · `read a.py and b.py`
- `search for "TODO" in src`
- ``run `git status` `` · `run the tests` · `find out why the test fails`
- `write notes.txt with "hello"` (or a ``` block after it)
- `replace "old" with "new" in notes.txt`
- several in a row: `read a.txt then run the tests`
- `explain pinyon`, or one of: keys, sessions, providers, commands, ssh
- `show me everything you can do`"""

_HELP = f"""\
I understand plain English requests like these, and report what the tools really gave:

{EXAMPLES}

I don't understand code and can't think of a change: for that, set up a model (`explain providers`)."""

_PINYON = """\
**Pinyon** is a coding agent for the terminal. You type a request; a model answers, reads, searches, edits and runs \
things in your folder until it is done. Everything is kept in a session file as a tree, so that you can go on later \
or go back and try another way.

- `pinyon` opens the screen, `pinyon -p "request"` answers once and ends.
- Seven tools do the work: read, bash, edit, write, grep, find, ls. They run with your rights, in the folder where \
you started.
- Without an account you talk to me. With a key you talk to a model: `explain providers`.

More: `explain keys`, `explain sessions`, `explain commands`, `explain ssh`."""

_KEYS = """\
| key | what it does |
| --- | --- |
| enter | send; while a run goes on: steer it |
| shift+enter or ctrl+j | new line |
| alt+enter | follow-up: sent when the run is done |
| escape | stop what is going on, the innermost thing first |
| ctrl+↑, then j/k and enter | walk the blocks, open and fold them |
| ctrl+o | how much of all blocks is shown |
| ctrl+t · ctrl+s · ctrl+l | tree · sessions · model |
| shift+tab | thinking level |
| ctrl+p | every command |
| ctrl+c, twice | clear the prompt, quit |
| f1 | help |

A line that begins with `!` runs a command, with `!!` without telling the model."""

_SESSIONS = """\
Each conversation is a session, one file that is only ever added to.

- `pinyon -c` goes on with the last session of this folder, `pinyon -r` lets you choose.
- `pinyon --session ID` opens one by its id or file, `--no-session` keeps nothing.
- A session is a tree: going back to an earlier message and asking differently begins a new branch, the old one stays.
- Files lie in the data folder (`PINYON_DATA_DIR`), or where `sessionDir` in settings.json or `--session-dir` says."""

_PROVIDERS = """\
To talk to a language model, give Pinyon a key in one of these ways:

1. Set a variable: `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `OPENROUTER_API_KEY`, `DEEPSEEK_API_KEY` …
2. For one run: `pinyon --provider anthropic --api-key KEY`
3. A server of your own (llama.cpp, vLLM, Ollama, LM Studio …) in `models.json` in the configuration folder:

```json
{
  "providers": {
    "local": {
      "baseUrl": "http://localhost:8080/v1",
      "apiKey": "none",
      "api": "openai-completions",
      "models": [{ "id": "my-model", "contextWindow": 32768 }]
    }
  }
}
```

A key may be written out, be the name of a variable, or be `!command`, which prints it. \
Then choose: `pinyon --model local/my-model`, with a thinking level `--model sonnet:high`."""

_COMMANDS = """\
| command line | what it does |
| --- | --- |
| `pinyon` | the screen |
| `pinyon -p "request"` | one answer, then end; reads stdin and `@file`s as well |
| `--mode json` | every event as a line of JSON |
| `-c` · `-r` · `--session ID` | go on with a session |
| `--provider` · `--model` · `--api-key` · `--thinking` | which model, and how hard it thinks |
| `--tools a,b` · `--no-tools` | which tools may be used |
| `--cwd DIR` · `--no-session` | where to work, keep nothing |
| `--help` · `--version` | |

On the screen a line that begins with `/` is a command: `/model`, `/new`, `/session`, `/name`, `/help`, `/quit`; \
ctrl+p lists them all."""

_SSH = """\
Pinyon is made for use over SSH. When `SSH_CONNECTION` or `SSH_TTY` is set, or `"ssh": "on"` in settings.json, it \
draws 15 times a second, animates nothing and sends few bytes. If the line drops, the session is whole: `pinyon -c` \
goes on. Copying goes through the terminal (OSC 52); tmux needs `set-clipboard on`."""

TOPICS: dict[str, str] = {
    "help": _HELP,
    "pinyon": _PINYON,
    "keys": _KEYS,
    "sessions": _SESSIONS,
    "providers": _PROVIDERS,
    "commands": _COMMANDS,
    "ssh": _SSH,
}
