import { editorErrors } from "../../../packages/protocol/src/errors/editor-errors.ts";
import { gateErrors } from "../../../packages/protocol/src/errors/gate-errors.ts";
import { requestErrors } from "../../../packages/protocol/src/errors/request-errors.ts";
import { startErrors } from "../../../packages/protocol/src/errors/start-errors.ts";
import { toolErrors } from "../../../packages/protocol/src/errors/tool-errors.ts";
import { turnErrors } from "../../../packages/protocol/src/errors/turn-errors.ts";
import { code, page, table } from "./markdown.mjs";

/** @type {readonly { title: string, about: string, errors: import("../../../packages/protocol/src/errors/error-meaning.ts").ErrorMeanings }[]} */
const groups = [
  {
    title: "The gate and its rules",
    about:
      "In the `error` of a tool's result, in the ledger, and in the question. A rule that asks has a code as well.",
    errors: gateErrors,
  },
  {
    title: "Tools",
    about: "In the `error` of a tool's result, when the call was let through and failed.",
    errors: toolErrors,
  },
  { title: "Turns", about: "In `error_info` of the event `error`, with which a turn ends.", errors: turnErrors },
  {
    title: "Requests",
    about:
      "In the `ErrorInfo` of a Connect error. The codes of tools and rules appear there, too, when a person does what a tool does.",
    errors: requestErrors,
  },
  { title: "Starting, and the store", about: "Messages of `gennai`, with exit code 1 or 2.", errors: startErrors },
  {
    title: "The editor",
    about: "Notifications of the extension, and what it answers to the server.",
    errors: editorErrors,
  },
];

export function errorsPage() {
  return page(
    "# Errors",
    "Codes are stable; the words beside them may change. Each error carries a message of its own that names the file, the rule or the command, and most have a hint. The exit codes of `gennai ledger verify` are in [the ledger](../ledger.md).",
    ...groups.flatMap(({ title, about, errors }) => [
      `## ${title}`,
      about,
      table(
        ["code", "means", "what to do next"],
        Object.entries(errors)
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([name, { means, next }]) => [code(name), means, next]),
      ),
    ]),
  );
}
