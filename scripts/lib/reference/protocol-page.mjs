import { code, page, table } from "./markdown.mjs";
import { eventMessages, linksTo, messageParts } from "./message-parts.mjs";

/** @param {import("./protocol.mjs").Protocol} protocol */
export function protocolPage(protocol) {
  const events = eventMessages(protocol);
  const here = [...protocol.messages, ...protocol.enumerations].map(({ name }) => name);
  const linkOf = linksTo(new Map(here.map((name) => [name, events.has(name) ? "events.md" : ""])));
  return page(
    "# The protocol, message by message",
    "Package `gennai.agent.v1`. [The wire](../protocol.md) says how it works together, [events](events.md) what a session tells its clients.",
    "## Services",
    ...protocol.services.flatMap(({ name, comment, methods }) => [
      `### ${name}`,
      comment,
      table(
        ["call", "takes", "gives", "does"],
        methods.map((method) => [
          code(method.name),
          linkOf(method.input),
          `${method.streams ? "a stream of " : ""}${linkOf(method.output)}`,
          method.comment,
        ]),
      ),
    ]),
    "## Messages",
    ...protocol.messages
      .filter(({ name }) => !events.has(name))
      .flatMap((message) => messageParts(message, { heading: "###", linkOf })),
    "## Enumerations",
    ...protocol.enumerations.flatMap(({ name, comment, values }) => [
      `### ${name}`,
      comment,
      table(
        ["number", "value", "means"],
        values.map((value) => [String(value.number), code(value.name), value.comment]),
      ),
    ]),
  );
}
