import type { Risk } from "@gennai/protocol/model/governance/risk";

/** The server's estimate of risk: as a word with a shape, not only as a colour. */
export function RiskMark({ risk }: { readonly risk: Risk }) {
  return (
    <span class={`risk risk-${risk}`}>
      <span class="risk-shape" aria-hidden="true" />
      {risk} risk
    </span>
  );
}
