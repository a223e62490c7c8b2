/** Words about sounds, which models write where nobody speaks. */

/** `[BLANK_AUDIO]`, `[Music]`, `(crickets chirping)`, `*sighs*`, `♪`, as Whisper and whisper.cpp write them. */
const marker = /\[[^\]]*\]|\([^)]*\)|（[^）]*）|【[^】]*】|\*[^*]*\*/gu;

/** Whether there is nothing in a text that was said. */
export const isOnlyMarkers = (text: string): boolean => !/[\p{L}\p{N}]/u.test(text.replace(marker, ''));
