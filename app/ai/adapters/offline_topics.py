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
| enter | send; while it works: say something in between |
| shift+enter or ctrl+j | new line |
| alt+enter · alt+↑ | say it when it is done · take waiting messages back |
| escape | stop what goes on, the innermost thing first |
| escape in an empty prompt, or ctrl+↑ | walk the blocks: j/k, enter opens and folds, y copies, i goes back |
| e · f · L · h/l, on a block | write it anew as a branch · new session from here · label · the branch beside it |
| ctrl+o · alt+t | how much of all blocks · thinking |
| ctrl+f · ctrl+r | search the conversation · search older prompts |
| ctrl+t · ctrl+s · ctrl+l | tree of branches · sessions · model |
| shift+tab | thinking level |
| ctrl+p · f1 | every command · every key |
| ctrl+c, twice | clear the prompt, quit |

A line that begins with `!` runs a command, with `!!` without telling the model; `@` completes a file's name. \
`keybindings.json` in the configuration folder changes keys; f1 ends with the names it wants."""

_SESSIONS = """\
Each conversation is a session, one file that is only ever added to.

- `pinyon -c` goes on with the last session of this folder, `pinyon -r` or ctrl+s lets you choose and search.
- `pinyon --session ID` opens one by its id or file, `--fork ID` a copy of it, `--no-session` keeps nothing.
- A session is a tree: `e` on an earlier message (ctrl+↑, K) writes it anew as a new branch, the old one stays.
- ctrl+t shows the tree: enter goes to a place, `c` compares it with where you are, `t` takes its files or a message.
- Files follow: before and after a turn that may change some they are kept, outside your repository. `d` shows what \
differs, `r` restores them, `/undo-restore` takes that back. What .gitignore leaves out is not kept.
- `/fork` and `/clone` go on in a new session, `/compact` summarises, `/export talk.html` writes one page. From the \
shell: `pinyon sessions`, `pinyon export ID`.
- Sessions lie in the data folder (`PINYON_DATA_DIR`), or where the setting `sessionDir` or `--session-dir` says."""

_PROVIDERS = """\
To talk to a language model, give Pinyon a key in one of these ways:

1. Set a variable: `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY`, `OPENROUTER_API_KEY`, `DEEPSEEK_API_KEY` …
2. For one run: `pinyon --provider anthropic --api-key KEY`
3. For good: `auth.json` in the configuration folder: `{"anthropic": {"type": "api_key", "key": "KEY"}}`
4. A server of your own (llama.cpp, vLLM, Ollama, LM Studio …) in `models.json` in the configuration folder \
(`~/.config/pinyon`, or `PINYON_CONFIG_DIR`):

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
`api` is openai-completions, openai-responses, anthropic-messages or google-generative-ai. Then choose: ctrl+l, or \
`pinyon --model local/my-model`, with a thinking level `--model sonnet:high`; `pinyon --list-models` lists all."""

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
| `--fork ID` | go on with a copy of a session |
| `--theme NAME` · `--ssh` · `--plain-ui` | how the screen looks |
| `pinyon sessions` · `pinyon export ID talk.html` | list, search and mend sessions · write one as a page |
| `--list-models` · `--help` · `--version` | |

On the screen a line that begins with `/` is a command; ctrl+p lists them all:

- sessions: `/new` `/resume` `/name` `/session` `/compact` `/export` `/copy` `/follow-up` `/queue`
- branches: `/tree` `/fork` `/clone` `/label` `/back` `/forward` `/diff` `/restore` `/undo-restore`
- model and view: `/model` `/thinking` `/density` `/thoughts` `/theme` `/search` `/mouse` `/plain`
- `/help` `/suspend` `/quit`"""

_SSH = """\
Pinyon is made for use over SSH. When `SSH_CONNECTION` or `SSH_TTY` is set, with `--ssh`, or with `"ssh": "on"` in \
settings.json, it draws 15 times a second and sends few bytes (`"off"`: never). If the line drops, \
the session is whole: `pinyon -c` goes on. Copying goes through the terminal (OSC 52); tmux needs `set-clipboard on`."""

TOPICS: dict[str, str] = {
    "help": _HELP,
    "pinyon": _PINYON,
    "keys": _KEYS,
    "sessions": _SESSIONS,
    "providers": _PROVIDERS,
    "commands": _COMMANDS,
    "ssh": _SSH,
}
