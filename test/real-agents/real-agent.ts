import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AnswerCall, ModelAnswer, ModelWire } from "@gennai/testkit/model-server/model-answer";

/** The scripted model's calls, and their expected results. */
export interface Expected {
  readonly calls: readonly Omit<AnswerCall, "id">[];
  /** Part of the result that the model is told about the last call. */
  readonly told: RegExp;
  /** Part of what the agent itself says, where its model hears no more of it. */
  readonly said?: RegExp;
  /** What its user says where it asks. */
  readonly agrees?: true;
  /** Of the ledger: kind, tool and verdict of what it adds at its end. */
  readonly recorded: string;
}

/** How an agent is tried in a run of its own: `gennai guard run`. */
export interface OwnRun {
  readonly wire: ModelWire;
  /** What the model says to a request: the next of the calls. */
  answer(body: Readonly<Record<string, unknown>>, calls: Expected["calls"]): ModelAnswer;
  /** As it is found on the search path. */
  readonly program: string;
  /** What it says where it does not begin without its login. */
  readonly needsLogin?: RegExp;
  /** Besides what every program has. */
  environment?(baseUrl: string): Readonly<Record<string, string>>;
  /** Its files below the home; the login among them. */
  files(baseUrl: string): Readonly<Record<string, string>>;
  /** Which of them. */
  readonly login: string;
  /** Which of them its command changes. */
  readonly settings: string;
  /** Words that make it work on one prompt. */
  readonly args: readonly string[];
  /** Has a shell run a command. */
  calls(command: string): Expected["calls"];
  /** Another file of its own, of which it is to see one text and not the other. */
  readonly copied?: { readonly path: string; readonly shown: string; readonly left: string };
}

/** An agent from npm, and how it is configured to speak to a model server on the loopback. */
export interface RealAgent {
  readonly id: string;
  readonly version: string;
  /** Where its hook is put, in the project. */
  readonly settings: string;
  /** Paths of what it makes by itself beside the hook, and leaves there. */
  readonly leaves?: RegExp;
  /** What it calls for what every agent is tried with; given is the project. */
  readonly calls: Readonly<
    Record<
      "reads" | "edits" | "asks" | "destroys" | "leavesScope" | "unhooks" | "creates" | "looks",
      (root: string) => Expected
    >
  > &
    Partial<Readonly<Record<"fails" | "agrees" | "waits", (root: string) => Expected>>>;
  readonly ownRun?: OwnRun;
  /** Files by which its user, and a project, switch hooks off; only where it has hooks for all users. */
  readonly hooksOff?: Readonly<Record<string, string>>;
  /** Its program; installed below the directory where it is not there yet. */
  program(directory: string): string;
  /** Lets it work on one prompt; the model makes one call after the other. */
  play(
    program: string,
    calls: Expected["calls"],
    cwd: string,
    environment: Readonly<Record<string, string>>,
    /** @property agrees whether its user says yes to what it asks. @property managed its hook is in place for all users */
    how: { readonly agrees: boolean; readonly managed: boolean },
  ): Promise<{
    /** What the model was told about the last call. */
    readonly told: string;
    /** All that the agent said. */
    readonly said: string;
  }>;
}

/** From npm, once. @returns where it lies */
export function fromNpm(directory: string, name: string, version: string, finish?: (packaged: string) => void): string {
  const place = join(directory, `${name.replaceAll(/[@/]/g, "-")}-${version}`);
  const packaged = join(place, "node_modules", name);
  if (existsSync(join(place, "ready"))) return packaged;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "package.json"), "{}");
  execFileSync("npm", ["install", "--no-audit", "--no-fund", `${name}@${version}`], { cwd: place, stdio: "inherit" });
  finish?.(packaged);
  writeFileSync(join(place, "ready"), "");
  return packaged;
}
