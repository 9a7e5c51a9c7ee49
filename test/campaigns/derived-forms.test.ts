/** What ordinary programs make of a known secret, wherever it begins. */
import { testDerivedForms } from "../fakes/derived-forms.ts";

testDerivedForms(["the key: ", "a", "ab", "abcd"]);
