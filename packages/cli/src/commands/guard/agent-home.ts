import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { realPath } from "@gennai/machine/host/way-to";
import { isWithin } from "@gennai/protocol/is-within";
import type { ProgramHome, RunMount } from "@gennai/stage/staged-command";
import * as z from "zod";
import { CliError } from "../../terminal/cli-error.ts";
import type { StartedAgent } from "./started-agents.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** An agent's own files on this machine. */
export class AgentHome {
  readonly #agent: StartedAgent;
  readonly #environment: Environment;
  readonly #directories: readonly string[];

  /**
   * Throws `CliError` if they cannot be separated from the workspace.
   * @param apart real paths that must neither contain nor be inside any of it
   */
  constructor(agent: StartedAgent, environment: Environment, apart: readonly string[]) {
    this.#agent = agent;
    this.#environment = environment;
    this.#directories = agent.directories.map((text) => this.#placeOf(text));
    const home = this.#placeOf("~/");
    for (const path of this.#directories) {
      if (existsSync(path) && realpathSync(path) !== path) {
        throw new CliError(
          `${path}, a directory of ${agent.id}, is a link or behind one, and a run cannot follow it.`,
          {
            next: [`Configure ${agent.id} itself to use the place that it leads to: ${realpathSync(path)}`],
          },
        );
      }
      const other = [...apart, home].find(
        (one) => isWithin(one, { directory: path }) || (one !== home && isWithin(path, { directory: one })),
      );
      if (other !== undefined) {
        throw new CliError(`${path}, a directory of ${agent.id}, contains ${other}, or lies in it.`, {
          next: ["Work in another directory, or move the agent's."],
        });
      }
    }
  }

  /** Its logins that exist; texts for people. */
  get logins(): readonly string[] {
    return [...this.#loginFiles(), ...this.#fileLogins(), ...this.#keys()];
  }

  /**
   * The home for a run. @param uncovered whether it sees its logins
   * @param program real path of the parts of its program that it must see
   */
  forRun(program: string, uncovered: boolean): ProgramHome {
    const mounts: RunMount[] = [{ path: program, source: program }];
    for (const text of this.#agent.histories) {
      const path = realPath(this.#placeOf(text));
      if (path === undefined || !this.#shows(path)) continue;
      mounts.push(statSync(path).isDirectory() ? { path, empty: true } : { path, text: "" });
    }
    for (const path of this.#loginFiles()) {
      const real = realpathSync(path);
      if (uncovered && !this.#shows(real)) mounts.push({ path: real, source: real });
      if (!uncovered && this.#shows(real)) mounts.push({ path: real, text: "" });
    }
    const passed = [...this.#agent.variables, ...(uncovered ? this.#agent.keys : [])];
    const environment = Object.fromEntries(
      passed.flatMap((name) => {
        const value = this.#environment[name];
        return value === undefined || value === "" ? [] : [[name, value]];
      }),
    );
    return {
      directories: this.#directories,
      mounts,
      files: this.#files(uncovered),
      environment: { ...environment, ...this.#agent.environment },
    };
  }

  #files(uncovered: boolean): ProgramHome["files"] {
    return this.#agent.files.flatMap(({ path, histories, logins }) => {
      const real = realPath(this.#placeOf(path));
      if (real === undefined) return [];
      const members = Object.entries(membersOf(real));
      const left = members.filter(([name]) => !histories.includes(name) && (uncovered || !logins.includes(name)));
      return [{ path: this.#placeOf(path), text: JSON.stringify(Object.fromEntries(left)) }];
    });
  }

  #shows(path: string): boolean {
    return this.#directories.some((directory) => isWithin(path, { directory }));
  }

  #loginFiles(): readonly string[] {
    return this.#agent.logins.map((text) => this.#placeOf(text)).filter((path) => realPath(path) !== undefined);
  }

  #fileLogins(): readonly string[] {
    return this.#agent.files.flatMap(({ path, logins }) => {
      const real = realPath(this.#placeOf(path));
      const members = real === undefined ? {} : membersOf(real);
      return logins.filter((name) => Object.hasOwn(members, name)).map((name) => `${name} in ${real}`);
    });
  }

  #keys(): readonly string[] {
    return this.#agent.keys.filter((name) => (this.#environment[name] ?? "") !== "");
  }

  #placeOf(text: string): string {
    const [, variable = "", usual = text] = /^\{(\w+):([^}]*)\}/.exec(text) ?? [];
    const rest = variable === "" ? "" : text.slice(text.indexOf("}") + 1);
    const said = this.#environment[variable] ?? "";
    const begin = isAbsolute(said) ? said : usual;
    const home = realPath(this.#environment["HOME"] || homedir()) ?? homedir();
    return join(begin.startsWith("~/") ? join(home, begin.slice(2)) : begin, rest);
  }
}

/** Throws `CliError` for a file that is not a JSON object: the logins in it could not be found. */
function membersOf(path: string): Readonly<Record<string, unknown>> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw new CliError(`${path} is not a JSON object, so it cannot be copied for the run.`, {
      next: ["Correct it."],
      cause,
    });
  }
}
