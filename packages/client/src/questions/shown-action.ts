import { parsedJson, recordOf } from "@gennai/protocol/json-value";

/** The action of a question, for people. The JSON itself is available as well. */
export interface ShownAction {
  /** Empty if the action names none. */
  readonly tool: string;
  /** The exact command line or program text, if the action runs one. */
  readonly command: string | undefined;
  /** Directory of the command; empty: the workspace. */
  readonly cwd: string;
  /** The other arguments, each as JSON unless it is a string. */
  readonly arguments: readonly { readonly name: string; readonly value: string }[];
}

/** Reads an action. Nothing in it is trusted; it is only shown. */
export function shownAction(actionJson: string): ShownAction {
  const action = recordOf(parsedJson(actionJson));
  const given = recordOf(action["arguments"]);
  const { command, cwd, ...rest } = given;
  return {
    tool: typeof action["tool"] === "string" ? action["tool"] : "",
    command: typeof command === "string" ? command : undefined,
    cwd: typeof cwd === "string" ? cwd : "",
    arguments: Object.entries({
      ...rest,
      ...(typeof command === "string" || command === undefined ? {} : { command }),
      ...(typeof cwd === "string" || cwd === undefined ? {} : { cwd }),
    }).map(([name, value]) => ({
      name,
      value: typeof value === "string" ? value : JSON.stringify(value, undefined, 2),
    })),
  };
}
