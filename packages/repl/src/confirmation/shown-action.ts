import { parsedJson, recordOf } from "@gennai/protocol/json-value";

/** What a question's action is, for people. The JSON itself stays at hand. */
export interface ShownAction {
  /** Empty when the action does not say. */
  readonly tool: string;
  /** The exact command line or program text, when the action runs one. */
  readonly command: string | undefined;
  /** Directory of the command; empty: the workspace. */
  readonly cwd: string;
  /** The other arguments, each as JSON unless it is text. */
  readonly arguments: readonly { readonly name: string; readonly value: string }[];
}

/** Reads an action; nothing of it is believed, it is only laid out. */
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
