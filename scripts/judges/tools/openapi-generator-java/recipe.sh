openapi_generator java \
  library=native,openApiNullable=false,invokerPackage=generated,apiPackage=generated.api,modelPackage=generated.model
maven -f made/pom.xml dependency:copy-dependencies "-DoutputDirectory=$PWD/made/libraries"
# These warnings are not ours: no annotation is processed, libraries have their own annotations, and the generator's
# templates call what Jackson has deprecated.
find made/src/main/java -name '*.java' >sources.txt
javac -Xlint:all,-processing,-classfile,-deprecation -Werror -cp 'made/libraries/*' -d made/built @sources.txt OpenApiGenerator.java
java -cp 'made/built:made/libraries/*' OpenApiGenerator
