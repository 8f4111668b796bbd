import { plainWords } from "../answers/plain-words.ts";
import type { CommandAnalysis } from "../command/command-analysis.ts";

/** Whose connections a yes is for. */
export interface RunProgram {
  /** Program and verb, e.g. `npm install`; of a command that is more than one program with plain words, its text. */
  readonly name: string;
  /** A yes may hold for longer than one run: all that the program does there is what its verb says. */
  readonly lasting: boolean;
}

interface LastingProgram {
  /** Its verbs, with the name under which each is answered; absent if it does only one thing. */
  readonly verbs?: Readonly<Record<string, string>>;
  /** Verbs that obey settings of the directory they run in, which may be a repository that no one has looked at. */
  readonly atRoot?: readonly string[];
  /** Options that make it run no other program and read no instructions from a file. */
  readonly options: RegExp;
  readonly operands: RegExp;
}

const plainOperand = /^[^\\]*$/;

/**
 * Programs that run no code of the workspace when they use the network. Interpreters and scripts (`npm run`, `npm test`,
 * `make`) are excluded, and so are package managers that load code of the workspace (`pnpm` its `.pnpmfile.cjs`, `yarn` its
 * `yarnPath`, `pip` a `setup.py`, `cargo` a `rustc-wrapper`): what they do changes with the tree. So does `git pull`, through
 * filters and merge drivers. `psql` and `redis-cli` can make a service run programs outside any sandbox.
 */
const lastingPrograms: Readonly<Record<string, LastingProgram>> = {
  npm: {
    verbs: {
      install: "install",
      i: "install",
      add: "install",
      ci: "ci",
      update: "update",
      up: "update",
      upgrade: "update",
      outdated: "outdated",
      view: "view",
      info: "view",
      show: "view",
      audit: "audit",
      search: "search",
      ping: "ping",
    },
    options:
      /^(?:-[DSEOP]|--(?:save(?:-dev|-prod|-exact|-optional|-peer)?|no-save|no-audit|no-fund|ignore-scripts|legacy-peer-deps|prefer-offline|json|silent|quiet|package-lock-only|dry-run|(?:omit|include|loglevel)=[a-z]+))$/,
    // From a registry: no path or file of the tree, and no repository (`OWNER/NAME`).
    operands: /^(?!.*\.(?:tgz|tar|tar\.gz)$)(?:@[\w.-]+\/)?[a-zA-Z0-9][\w.-]*(?:@[\w.^~<>=*-]+)?$/i,
  },
  git: {
    verbs: { fetch: "fetch", clone: "clone", "ls-remote": "ls-remote" },
    atRoot: ["fetch", "ls-remote"],
    options: /^(?:-[qvpt]|--(?:quiet|verbose|all|tags|no-tags|prune|bare|heads|refs|depth=\d+))$/,
    // `ext::` and its like name programs.
    operands: /^(?!.*::)[^\\]*$/,
  },
  curl: {
    options:
      /^(?:-[sSfLiIvOgk#]*[sSfLiIvOgk#om]|--(?:silent|show-error|fail|location|include|head|verbose|remote-name|output|compressed|max-time|retry))$/,
    operands: plainOperand,
  },
  wget: {
    options: /^(?:-(?:q|nv|O|t|T|S|c|N)|--(?:quiet|no-verbose|output-document|tries|timeout|continue))$/,
    operands: plainOperand,
  },
};

const maxName = 60;

/** @param place where it runs; the root of the workspace by default. Real paths */
export function runProgram(
  command: CommandAnalysis,
  place?: { readonly cwd: string; readonly workspaceRoot: string },
): RunProgram {
  const plain = plainWords(command.text);
  const [simple, ...others] = command.commands;
  if (plain === undefined || simple === undefined || others.length > 0 || simple.wrappers.length > 0) {
    return { name: shortened(command.text), lasting: false };
  }
  const [program = "", ...words] = plain;
  const [verb = "", ...rest] = words;
  const known = Object.hasOwn(lastingPrograms, program) ? lastingPrograms[program] : undefined;
  const said = { name: shortened(verb.startsWith("-") ? program : `${program} ${verb}`), lasting: false };
  if (known === undefined || program !== simple.name) return said;
  if (known.verbs === undefined) return { name: program, lasting: words.every((word) => isKnown(word, known)) };
  const name = Object.hasOwn(known.verbs, verb) ? known.verbs[verb] : undefined;
  if (name === undefined) return said;
  const obeysDirectory = place?.cwd !== place?.workspaceRoot && known.atRoot?.includes(name) === true;
  return { name: `${program} ${name}`, lasting: !obeysDirectory && rest.every((word) => isKnown(word, known)) };
}

function isKnown(word: string, { options, operands }: LastingProgram): boolean {
  return word.startsWith("-") && word !== "-" ? options.test(word) : operands.test(word);
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > maxName ? `${line.slice(0, maxName - 1)}…` : line;
}
