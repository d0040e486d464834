// Goal: what S3 says is read; what is none of it is refused, and nothing is made up.
// Method: answers as S3 writes them, broken ones, and a property over texts.
#include "base/xml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl::xml {
namespace {

TEST(Xml, ReadsAnAnswerOfS3) {
  const Result<Element> read = parse(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\n"
      "  <IsTruncated>false</IsTruncated><Prefix/>\n"
      "  <Contents><Key>a&amp;b</Key><Size>3</Size></Contents>\n"
      "  <Contents><Key>c</Key><Size>4</Size></Contents>\n"
      "</ListBucketResult>\n");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->name, "ListBucketResult");
  EXPECT_EQ(read->text_of("IsTruncated"), "false");
  EXPECT_EQ(read->text_of("Prefix"), "");
  EXPECT_EQ(read->text_of("Missing"), "");
  ASSERT_EQ(read->children.size(), 4U);
  EXPECT_EQ(read->children[2].text_of("Key"), "a&b");
  EXPECT_EQ(read->children[3].text_of("Size"), "4");
}

TEST(Xml, ReadsEntitiesAndNumbersOfCharacters) {
  EXPECT_EQ(parse("<a>&lt;&gt;&quot;&apos;&amp;&#65;&#x42;&#233;&#x20AC;&#x1F600;</a>")->text,
            "<>\"'&ABé€😀");
}

TEST(Xml, KeepsBlanksOfATextAndTrimsThoseBetweenElements) {
  EXPECT_EQ(parse("<a> b </a>")->text, " b ");
  EXPECT_EQ(parse("<a>\n <b/>\n</a>")->text, "");
}

TEST(Xml, RefusesWhatIsNone) {
  for (const std::string_view text : {"",
                                      "text",
                                      "<a>",
                                      "<a></b>",
                                      "<a",
                                      "<a b></a>",
                                      "<a b='c></a>",
                                      "<a/><b/>",
                                      "<>",
                                      "</a>",
                                      "<a>&none;</a>",
                                      "<a>&#0;</a>",
                                      "<a>&#xD800;</a>",
                                      "<a>&amp</a>",
                                      "<a b=\"<\"/>",
                                      "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
                                      "<a><!-- no --></a>",
                                      "<a><![CDATA[b]]></a>",
                                      "<?xml version='1.0'",
                                      "<a>&</a>",
                                      "<a>&#99999999999;</a>",
                                      "<html><br></html>"}) {
    const Result<Element> read = parse(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::invalid);
  }
}

TEST(Xml, RefusesWhatIsNestedTooDeeply) {
  std::string open, close;
  for (std::size_t i = 0; i < depth_max; ++i) {
    open += "<a>";
    close += "</a>";
  }
  EXPECT_TRUE(parse(open + close));
  EXPECT_FALSE(parse(open + "<a/>" + close));
}

RC_GTEST_PROP(Xml, BringsBackWhatWasEscaped, (const std::string& text)) {
  const Result<Element> read = parse("<a>" + escaped(text) + "</a>");
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->text == text);
}

}  // namespace
}  // namespace pawl::xml
