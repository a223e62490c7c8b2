/** Languages as BCP 47 tags: `de`, `en-GB`, `zh-Hant`. */

/** What people use of BCP 47 (RFC 5646, section 2.1): language, script and region. */
const wellFormed = /^[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?$/i;

/**
 * The canonical spelling: `de` for `DEU`, `en-GB` for `en-gb`, `he` for `iw`.
 * @returns undefined for what is no such tag
 */
export function canonicalTag(text: string): string | undefined {
  return wellFormed.test(text) ? Intl.getCanonicalLocales(text)[0] : undefined;
}

/** The language alone: `zh` of `zh-Hant`. */
export const primaryOf = (tag: string): string => tag.split('-')[0]!;
