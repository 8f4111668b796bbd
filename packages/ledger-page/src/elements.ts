import { spelledOut } from "@gennai/protocol/hidden-characters";

type Child = Node | string;

/** An element with a class and children. Text is only ever text: nothing here parses HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.className = className;
  made.append(...children.map((child) => (typeof child === "string" ? document.createTextNode(child) : child)));
  return made;
}

/** Text of a record, in which what nobody would see is spelt. */
export function told(text: string): string {
  return spelledOut(text);
}
