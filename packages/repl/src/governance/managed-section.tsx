import { Fact } from "../look/fact.tsx";
import { VisibleText } from "../look/visible-text.tsx";

/** A policy that nobody here can lift, and what it lays down. */
export interface ManagedPolicy {
  readonly name: string;
  /** Whom to ask; may be empty. */
  readonly contact: string;
  readonly keys: readonly { readonly key: string; readonly value: string; readonly place: string }[];
}

/** Who manages this machine, and each key that is set, with its file and line. */
export function ManagedSection({ policies }: { readonly policies: readonly ManagedPolicy[] }) {
  return policies.map(({ name, contact, keys }) => (
    <section class="g-section managed" key={name} aria-label={`Managed by ${name}`}>
      <h3>
        <span aria-hidden="true">🔒</span> Managed by <VisibleText text={name} />
      </h3>
      <p class="g-quiet">
        Nobody here can lift what it says.{" "}
        {contact !== "" && (
          <>
            Questions: <VisibleText text={contact} />
          </>
        )}
      </p>
      <details>
        <summary>{keys.length === 1 ? "1 key" : `${keys.length} keys`}</summary>
        <dl class="g-facts managed-keys">
          {keys.map(({ key, value, place }) => (
            <Fact key={key} name={key}>
              <VisibleText text={value} />
              <VisibleText in="span" class="g-quiet managed-place" text={place} />
            </Fact>
          ))}
        </dl>
      </details>
    </section>
  ));
}

/** A lock where a policy sets one of these keys; nothing else. @param of the beginning of keys, e.g. `mcp` */
export function ManagedLock({ policies, of }: { readonly policies: readonly ManagedPolicy[]; readonly of: string }) {
  const found = policies.find(({ keys }) => keys.some(({ key }) => key === of || key.startsWith(`${of}.`)));
  if (found === undefined) return undefined;
  const keys = found.keys.filter(({ key }) => key === of || key.startsWith(`${of}.`));
  const says = `${found.name} lays this down: ${keys.map(({ key, value }) => `${key}: ${value}`).join("; ")}`;
  return (
    <span class="badge managed-lock" role="img" aria-label={says} title={says}>
      🔒 <VisibleText text={found.name} />
    </span>
  );
}
