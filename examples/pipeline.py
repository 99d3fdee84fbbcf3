"""
A pipeline in a grid search
===========================

How many pixels does a linear classifier need? Selector and classifier in one grid search.
Run with ``python examples/pipeline.py``.
"""

from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline

from orthoselect import OrthogonalSelector


def main():
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=0
    )
    model = Pipeline([("select", OrthogonalSelector()), ("classify", LinearDiscriminantAnalysis())])
    grid = {"select__n_features_to_select": [2, 4, 8, 16, 24, 32, 48]}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(model, grid, cv=folds).fit(X_train, y_train)

    print(f"Digits: {X.shape[0]} images of {X.shape[1]} pixels, 10 classes\n")
    print("  pixels  accuracy, 5 folds of the training rows")
    results = search.cv_results_
    for pixels, mean, spread in zip(
        results["param_select__n_features_to_select"],
        results["mean_test_score"],
        results["std_test_score"],
    ):
        print(f"  {pixels:>6}  {mean:.3f} +- {spread:.3f}  {'#' * round(40 * mean)}")

    best = search.best_estimator_
    print(f"\nBest: {search.best_params_['select__n_features_to_select']} pixels; ", end="")
    print(f"accuracy on the rows held out: {best.score(X_test, y_test):.3f}")
    print(f"The first five, in order: {best['select'].selected_[:5].tolist()}")


if __name__ == "__main__":
    main()
