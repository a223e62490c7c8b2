import { csvLine } from '../../../scripts/terminal/csv.ts';

test.each<[string, (string | number | null)[], string]>([
  ['plain fields', ['a', 7_100, null, 'd'], 'a,7100,,d'],
  ['a comma', ['one, two'], '"one, two"'],
  ['quotes', ['the "end"'], '"the ""end"""'],
  ['a line break', ['one\r\ntwo'], '"one\r\ntwo"'],
  ['a formula', ['=HYPERLINK("http://example.com")'], '"\'=HYPERLINK(""http://example.com"")"'],
  ['other signs', ['+1', '-1', '@SUM(A1)'], "'+1,'-1,'@SUM(A1)"],
  ['a formula behind spaces', ['  =1+1'], "'  =1+1"],
  ['a full-width sign', ['\uff1d1+1'], "'\uff1d1+1"],
  ['a tab', ['\t=1'], "'\t=1"],
  ['a sign within', ['a=b'], 'a=b'],
])('%s', (_, fields, line) => {
  expect(csvLine(fields)).toBe(`${line}\r\n`);
});
