import type { Risk } from "@gennai/protocol/model/governance/risk";

/** The server's word on risk: a word with a shape, not a colour alone. */
export function RiskMark({ risk }: { readonly risk: Risk }) {
  return (
    <span class={`risk risk-${risk}`}>
      <span class="risk-shape" aria-hidden="true" />
      {risk} risk
    </span>
  );
}
