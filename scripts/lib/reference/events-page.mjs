import { code, page, table } from "./markdown.mjs";
import { eventMessages, linksTo, messageParts } from "./message-parts.mjs";

/** @param {import("./protocol.mjs").Protocol} protocol */
export function eventsPage(protocol) {
  const onPage = eventMessages(protocol);
  const all = [...protocol.messages, ...protocol.enumerations].map(({ name }) => name);
  const linkOf = linksTo(new Map(all.map((name) => [name, onPage.has(name) ? "" : "protocol.md"])));
  const event = protocol.messages.find(({ name }) => name === "InvokeEvent");
  if (event === undefined) throw new Error("The protocol has no InvokeEvent.");
  const kinds = event.fields.filter(({ oneof }) => oneof === "event");
  return page(
    "# Events of a session",
    `${event.comment} \`Subscribe\` and \`Invoke\` send them as \`InvokeEvent\`, \`gennai run --json\` prints them as JSON, a line each. [The order of a turn](../protocol.md#sessions-turns-events) is an example.`,
    "## InvokeEvent",
    "What every event has:",
    table(
      ["number", "field", "type", "means"],
      event.fields
        .filter(({ oneof }) => oneof !== "event")
        .map((field) => [String(field.number), code(field.name), linkOf(field.type), field.comment]),
    ),
    "And one of these:",
    table(
      ["number", "event", "type", "means"],
      kinds.map((field) => [
        String(field.number),
        code(field.name),
        linkOf(field.type),
        field.comment || commentOf(field.type),
      ]),
    ),
    "## Their fields",
    ...protocol.messages
      .filter(({ name }) => onPage.has(name) && name !== "InvokeEvent")
      .flatMap((message) => messageParts(message, { heading: "###", linkOf })),
  );

  /** @param {string} type */
  function commentOf(type) {
    return protocol.messages.find(({ name }) => name === type)?.comment ?? "";
  }
}
