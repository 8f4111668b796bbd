import type { ComponentChildren } from "preact";

/** One row of a list of facts (`dl`). */
export function Fact({ name, children }: { readonly name: ComponentChildren; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
