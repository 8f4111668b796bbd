import { testCorpus } from "./corpus-tests.ts";

testCorpus(1);
