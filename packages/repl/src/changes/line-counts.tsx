export function LineCounts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span class="line-counts">
      <span class="tone-good" aria-hidden="true">
        +{added}
      </span>{" "}
      <span class="tone-bad" aria-hidden="true">
        −{removed}
      </span>
      <span class="spoken">
        {added} added, {removed} removed
      </span>
    </span>
  );
}
