import * as z from "zod";

// The page's policy lets no code be made from text, which would make parsing faster. Schemas ask when they are made: so this is
// imported before they are.
z.config({ jitless: true });
