// The extensions of DuckDB that no query here uses: ICU, JSON and autocomplete. The driver's
// prebuilt library loads them at every start, and they are a tenth of the program. The
// linker takes a definition of ours before one in an archive, so the archives stay out.
// The declarations are those of duckdb/main/extension.hpp.
#include <string>

namespace duckdb {

class ExtensionLoader;

class Extension {
public:
	virtual ~Extension();
	virtual void Load(ExtensionLoader &loader) = 0;
	virtual std::string Name() = 0;
	virtual std::string Version() const;
};

#define LEFT_OUT(TYPE, NAME)                                                                       \
	class TYPE : public Extension {                                                                \
	public:                                                                                        \
		void Load(ExtensionLoader &loader) override;                                               \
		std::string Name() override;                                                               \
		std::string Version() const override;                                                      \
	};                                                                                             \
	void TYPE::Load(ExtensionLoader &) {                                                           \
	}                                                                                              \
	std::string TYPE::Name() {                                                                     \
		return NAME;                                                                               \
	}                                                                                              \
	std::string TYPE::Version() const {                                                            \
		return "left out";                                                                         \
	}

LEFT_OUT(IcuExtension, "icu")
LEFT_OUT(JsonExtension, "json")
LEFT_OUT(AutocompleteExtension, "autocomplete")

} // namespace duckdb
